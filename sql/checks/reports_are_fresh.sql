-- Is something older than it should be?
-- One row per report and customer that is late, or never had a success.
-- What the service has always refused and what is switched off is not awaited.
-- Severity: warning
-- Concerns: commission
SELECT report, customer, state, last_success_utc, due_utc, last_error
FROM meta.freshness
WHERE is_late
