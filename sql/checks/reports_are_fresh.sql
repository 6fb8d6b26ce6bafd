-- Are reports older than they should be?
-- One row per report and customer that is late, or never had a success, as in meta.conditions.
-- Reports that failed or were denied are left out, because they have conditions of their own; so are reports that are
-- switched off.
-- Severity: warning
-- Concerns: commission
SELECT report, customer, kind AS state, since_utc AS due_utc, error
FROM meta.conditions
WHERE kind IN ('late', 'never read')
