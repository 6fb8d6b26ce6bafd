-- Are reports older than they should be?
-- One row per report and customer that is late, or never had a success, as in meta.conditions.
-- Reports whose requests fail or are denied have conditions of their own, and are left out like those switched off.
-- Severity: warning
-- Concerns: commission
SELECT report, customer, kind AS state, since_utc AS due_utc, error
FROM meta.conditions
WHERE kind IN ('late', 'never read')
