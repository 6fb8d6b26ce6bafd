-- Whose budgets were changed after they were first read, by how much, and when?
-- One row per office, user, month and measure with more than one version.
--
-- amount_now is null where the budget was taken back. marts.budgets keeps every version;
-- marts.budget_as_of(TIMESTAMP '2026-03-01') shows what stood at a moment.
SELECT
    office_id,
    user_id,
    month,
    measure,
    arg_min(amount, valid_from_utc) AS first_amount,
    max(amount) FILTER (valid_to_utc IS NULL) AS amount_now,
    count(*) AS versions,
    max(valid_from_utc) AS last_changed_utc
FROM marts.budgets
GROUP BY ALL
HAVING count(*) > 1
ORDER BY last_changed_utc DESC, office_id, user_id, month;
