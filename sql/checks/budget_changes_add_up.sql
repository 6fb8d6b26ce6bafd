-- Do the changes of budgets add up to what they have become since they were first read?
-- One row per office, user, month and measure of which they do not: its history stands for times that it cannot have had.
-- Severity: warning
-- Concerns: nothing
WITH first_read AS (
    SELECT office_id, user_id, month, measure, min(valid_from_utc) AS first_utc
    FROM marts.budgets
    WHERE amount IS NOT NULL
    GROUP BY ALL
),

became AS (
    SELECT
        budgets.office_id,
        budgets.user_id,
        budgets.month,
        budgets.measure,
        any_value(first_read.first_utc) AS first_utc,
        coalesce(sum(budgets.amount) FILTER (budgets.valid_to_utc IS NULL), 0)
        - coalesce(sum(budgets.amount) FILTER (
            budgets.valid_from_utc = first_read.first_utc AND coalesce(budgets.valid_to_utc > first_read.first_utc, true)
        ), 0) AS difference
    FROM marts.budgets AS budgets
    INNER JOIN first_read
        ON first_read.office_id IS NOT DISTINCT FROM budgets.office_id
        AND first_read.user_id IS NOT DISTINCT FROM budgets.user_id
        AND first_read.month = budgets.month
        AND first_read.measure = budgets.measure
    GROUP BY budgets.office_id, budgets.user_id, budgets.month, budgets.measure
)

SELECT
    became.office_id,
    became.user_id,
    became.month,
    became.measure,
    any_value(became.difference) AS difference,
    coalesce(sum(changes.difference), 0) AS told
FROM became
LEFT JOIN marts.budget_changes AS changes
    ON changes.office_id IS NOT DISTINCT FROM became.office_id
    AND changes.user_id IS NOT DISTINCT FROM became.user_id
    AND changes.month = became.month
    AND changes.measure = became.measure
    AND changes.noted_at_utc > became.first_utc
GROUP BY became.office_id, became.user_id, became.month, became.measure
HAVING any_value(became.difference) <> told
