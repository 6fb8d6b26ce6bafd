-- Do two reports disagree?
-- One row per office and month in which any measure differs by more than rounding; the latest first. What a sales list
-- lacks of sales shared with an office whose own list is not loaded is no difference.
-- Severity: warning
-- Concerns: nothing
SELECT
    month, office_id, office_name, differing_reports, odd_report, commission_difference, price_difference,
    estate_parts_difference, likely_reason
FROM marts.disagreements
WHERE differing_reports <> 'sales list' OR likely_reason <> 'sale shared with an office whose sales are not loaded'
ORDER BY month DESC, office_id
