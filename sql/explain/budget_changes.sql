-- Which budgets of the months were changed after they were first read?
-- One row per user, measure, month and change, the latest first.
-- Parameters: office, user, first_month, month
SELECT
    month,
    measure,
    coalesce(users.user_label, budgets.user_id, 'nobody in person') AS user_label,
    lag(amount) OVER versions AS amount_before,
    amount AS amount_after,
    valid_from_utc AS noted_at_utc
FROM marts.budgets AS budgets
LEFT JOIN marts.users AS users USING (user_id)
WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    AND (office_id = getvariable('office') OR user_id = getvariable('user'))
WINDOW versions AS (PARTITION BY office_id, user_id, month, measure ORDER BY valid_from_utc)
QUALIFY row_number() OVER versions > 1
ORDER BY noted_at_utc DESC, month, measure, user_label
