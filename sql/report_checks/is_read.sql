-- Is it read every night, for every customer?
-- One row per customer of whom it is late, was never read, was read once and is refused now (403), or whose login is
-- refused (401).
-- Severity: warning
SELECT report, customer, state, last_success_utc, last_error
FROM meta.freshness
WHERE is_late OR state = 'login refused' OR (state = 'no access' AND last_success_utc IS NOT NULL)
