-- Do figures of offices rest on answers that are no longer refreshed?
-- One row per customer that is removed from the settings, and still counts for an office for which no other customer
-- answers. Only the latest thirteen months count, in which numbers still change. Failures and denials are conditions of
-- their own.
-- Severity: warning
-- Concerns: commission
SELECT
    customer_id,
    array_to_string(list_sort(list(DISTINCT office_id)), ', ') AS offices,
    array_to_string(list_sort(list(DISTINCT report)), ', ') AS reports,
    max(month) AS last_month,
    max(fetched_at_utc) AS last_read_utc
FROM marts.office_sources
WHERE source_state = 'customer removed'
    AND month > (SELECT max(month) FROM marts.office_sources WHERE month <= fetched_at_utc) - INTERVAL 13 MONTH
GROUP BY ALL
ORDER BY ALL
