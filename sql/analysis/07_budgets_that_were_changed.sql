-- Whose budgets were changed after they were first read, by how much, and when?
-- One row per office, user, month and measure with more than one version.
--
-- marts.budgets keeps every version; marts.budget_as_of(TIMESTAMP '2026-03-01') shows what stood at a moment.
SELECT
    office_id,
    user_id,
    month,
    measure,
    arg_min(amount, valid_from_utc) AS first_amount,
    arg_max(amount, valid_from_utc) AS amount_now,
    count(*) AS versions,
    max(valid_from_utc) AS last_changed_utc
FROM marts.budgets
GROUP BY ALL
HAVING count(*) > 1
ORDER BY last_changed_utc DESC, office_id, user_id, month;
