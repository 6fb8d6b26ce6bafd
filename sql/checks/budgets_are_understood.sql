-- Are there budgets without an amount, a user or an office?
-- One row per report with such rows; their shape is assumed.
-- Severity: warning
SELECT report, count(*) AS row_count
FROM marts.budgets
WHERE amount IS NULL OR user_id IS NULL
GROUP BY ALL
