-- Is something older than it should be?
-- One row per report and customer without a success for a day and a half, refused ones aside.
-- Severity: warning
SELECT freshness.report, freshness.customer, freshness.last_success_utc, freshness.last_error
FROM meta.freshness AS freshness
LEFT JOIN meta.access AS access USING (report, customer)
WHERE freshness.is_late AND access.report IS NULL
