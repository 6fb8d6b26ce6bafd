-- Are there leads of an unknown office?
-- One row per month and way; no office counts these leads.
-- Severity: warning
-- Concerns: leads
SELECT month, way, count(*) AS lead_count
FROM marts.leads
WHERE office_id IS NULL
GROUP BY ALL
