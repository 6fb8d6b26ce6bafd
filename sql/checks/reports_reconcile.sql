-- Do two reports disagree?
-- One row per office and month in which any measure differs by more than rounding; the latest first.
-- Severity: warning
-- Concerns: nothing
SELECT
    month, office_id, office_name, differing_reports, odd_report, commission_difference, price_difference,
    estate_parts_difference, likely_reason
FROM marts.disagreements
ORDER BY month DESC, office_id
