-- Are reports older than they should be?
-- One row per report and customer that is late, or never had a success.
-- Reports that were always denied, or are switched off, are not expected.
-- Severity: warning
-- Concerns: commission
SELECT report, customer, state, last_success_utc, due_utc, last_error
FROM meta.freshness
WHERE is_late
