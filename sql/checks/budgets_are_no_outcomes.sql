-- Are the amounts loaded as budgets actually outcomes?
-- One row per report and measure with ten or more amounts of closed months, at least nine in ten of them equal to the
-- outcome: the field may be the wrong one. `brokerbi shapes` shows the answer, and shapes.toml names the field of the
-- budget.
-- Severity: warning
-- Concerns: budgets
SELECT report, measure, count(*)
FROM (
    SELECT
        budgets.*,
        CASE budgets.measure WHEN 'commission' THEN users.commission WHEN 'sold estates' THEN users.sold_estate_parts END AS outcome
    FROM marts.budgets AS budgets
    INNER JOIN marts.user_month AS users USING (user_id, month)
    WHERE budgets.valid_to_utc IS NULL AND budgets.amount <> 0 AND NOT users.is_open
)
WHERE outcome IS NOT NULL
GROUP BY ALL
HAVING count(*) >= 10 AND count(*) FILTER (abs(amount - outcome) < CASE measure WHEN 'commission' THEN 1 ELSE 0.01 END) >= 0.9 * count(*)
