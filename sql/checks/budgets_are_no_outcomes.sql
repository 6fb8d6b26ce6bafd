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
        CASE measure WHEN 'commission' THEN coalesce(users.commission, offices.commission)
            WHEN 'sold estates' THEN coalesce(users.sold_estate_parts, offices.sold_estate_parts) END AS outcome
    FROM marts.budgets AS budgets
    LEFT JOIN marts.user_month AS users USING (user_id, month)
    LEFT JOIN marts.office_month AS offices ON user_id IS NULL AND (offices.office_id, offices.month) = (budgets.office_id, month)
    WHERE valid_to_utc IS NULL AND amount <> 0 AND NOT coalesce(users.is_open, offices.is_open)
)
WHERE outcome IS NOT NULL
GROUP BY ALL
HAVING count(*) >= 10 AND count(*) FILTER (abs(amount - outcome) < CASE measure WHEN 'commission' THEN 1 ELSE 0.01 END) >= 0.9 * count(*)
