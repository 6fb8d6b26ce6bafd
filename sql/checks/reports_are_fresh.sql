-- Is something older than it should be?
-- One row per report and customer without a success for a day and a half, or without any.
-- What the service has always refused and what is switched off is not awaited.
-- Severity: warning
-- Concerns: commission
SELECT report, customer, state, last_success_utc, due_utc, last_error
FROM meta.freshness
WHERE is_late
