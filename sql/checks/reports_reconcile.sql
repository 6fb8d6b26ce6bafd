-- Do two reports tell different stories?
-- One row per office and month of which they do, by more than rounding, however many measures differ; the latest months first.
-- Severity: warning
-- Concerns: nothing
SELECT
    month, office_id, office_name, differing_reports, odd_report, commission_difference, price_difference,
    estate_parts_difference, likely_reason
FROM marts.disagreements
ORDER BY month DESC, office_id
