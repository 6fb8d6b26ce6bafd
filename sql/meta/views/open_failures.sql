-- Which months failed or are held back, and were not loaded since.
-- One row per report, customer and month; without what is switched off by now.
CREATE OR REPLACE VIEW meta.open_failures AS
WITH failed AS (
    SELECT loads.*, unnest(CASE WHEN len(months) = 0 THEN [NULL::DATE] ELSE months END) AS month
    FROM meta.loads AS loads
    WHERE status IN ('failed', 'held back') AND (report, customer) NOT IN (
        SELECT (report, customer) FROM meta.freshness WHERE state = 'switched off'
    )
)

SELECT
    failed.report,
    failed.customer,
    failed.month,
    failed.status,
    max(failed.fetched_at_utc) AS failed_at_utc,
    nullif(arg_max(coalesce(failed.error_kind, ''), failed.fetched_at_utc), '') AS error_kind,
    arg_max(failed.error, failed.fetched_at_utc) AS error
FROM failed
LEFT JOIN meta.months AS held
    ON held.report = failed.report
    AND held.customer = failed.customer
    AND held.month IS NOT DISTINCT FROM failed.month
    AND held.fetched_at_utc >= failed.fetched_at_utc
WHERE held.load_id IS NULL
GROUP BY ALL;
COMMENT ON VIEW meta.open_failures IS 'Which months failed or are held back, and were not loaded since.';
COMMENT ON COLUMN meta.open_failures.report IS 'name of the report';
COMMENT ON COLUMN meta.open_failures.customer IS 'the customer that was asked';
COMMENT ON COLUMN meta.open_failures.month IS 'first day of the month; null for a report without months';
COMMENT ON COLUMN meta.open_failures.status IS 'failed, or held back: too many rows would go, or values come empty or multiplied';
COMMENT ON COLUMN meta.open_failures.failed_at_utc IS 'when it failed last, in UTC';
COMMENT ON COLUMN meta.open_failures.error_kind IS
    'the kind of that error in one word, like Unavailable; null where it has none';
COMMENT ON COLUMN meta.open_failures.error IS 'why it failed then';
