-- Do two reports tell different stories?
-- One row per office, month and measure that differs by more than rounding; the latest months first.
-- Severity: warning
SELECT month, office_id, office_name, compared, measure, amount, compared_amount, difference, likely_reason
FROM marts.reconciliation
WHERE NOT is_reconciled
ORDER BY month DESC, office_id, compared
