-- Are there leads of an unknown office?
-- One row per month and way with leads of an unknown office; no office counts them.
-- Severity: warning
-- Concerns: leads
SELECT month, way, count(*) AS lead_count
FROM marts.leads
WHERE office_id IS NULL
GROUP BY ALL
