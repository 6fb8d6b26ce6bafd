-- Did an office end a month with a negative commission?
-- One row per office and month that is over; this is possible if much commission was taken back.
-- Severity: warning
-- Concerns: commission
SELECT month, office_id, office_name, commission
FROM marts.office_month
WHERE commission < 0 AND NOT is_open
