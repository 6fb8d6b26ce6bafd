-- Is it read every night, for every customer?
-- One row per customer of whom it is late, was never read, was read once and is refused now (403), or whose login is
-- refused (401).
-- Severity: warning
SELECT
    coalesce(found.report, access.report) AS report,
    found.customer,
    CASE WHEN found.cause = 'Unauthorized' THEN 'login refused' ELSE found.kind END AS state,
    min(found.since_utc) AS since_utc,
    any_value(found.remedy) AS remedy
FROM meta.conditions AS found
LEFT JOIN meta.access AS access ON found.kind = 'shut out' AND access.customer = found.customer
WHERE found.kind IN ('late', 'never read', 'right lost', 'shut out') OR found.cause = 'Unauthorized'
GROUP BY ALL
