-- Which months failed or are held back, and have not been loaded since: the latest failure of each.
--
-- One row per report, customer and month, none if switched off. A failure to request ids of a report without months is
-- open until all these ids were answered, or the report was requested more than two days later.
-- Columns:
--   report: name of the report
--   customer: the requested customer
--   month: first day of the month; null for a report without months
--   status: failed, or held back: too many rows would be lost, or a column is empty
--   since_utc: when the month first failed after its last load, in UTC
--   failed_at_utc: when the month last failed, in UTC
--   error_kind: the kind of that error in one word, like Unavailable; null if it has none
--   trouble: the cause shared with other failures, as in meta.loads
--   error: why the month failed then
--   remedy: what to do about it, if known
--   http_status: the status of the last answer, if that was an error
--   last_try: how the last of several tries ended, like answered 500
--   login: where the denied login of an error 401 is set
CREATE OR REPLACE VIEW meta.open_failures AS
WITH failed AS (
    SELECT loads.*, unnest(CASE WHEN len(months) = 0 THEN [NULL::DATE] ELSE months END) AS month
    FROM meta.loads AS loads
    LEFT JOIN meta.reports AS reports USING (report)
    LEFT JOIN meta.customers AS customers USING (customer)
    WHERE status IN ('failed', 'held back') AND coalesce(reports.is_on, true) AND coalesce(customers.is_active, true)
),

tried AS (
    SELECT report, customer, max(fetched_at_utc) AS last_try_utc FROM meta.loads WHERE asked IS NOT NULL GROUP BY ALL
),

ids AS (
    SELECT DISTINCT report, customer, load_id, fetched_at_utc, unnest(asked) AS asked FROM failed
),

unanswered AS (
    SELECT ids.load_id
    FROM ids
    INNER JOIN tried USING (report, customer)
    ANTI JOIN meta.history_scopes AS answered
        ON (answered.report, answered.customer, answered.asked) = (ids.report, ids.customer, ids.asked)
        AND answered.fetched_at_utc >= ids.fetched_at_utc
    WHERE ids.fetched_at_utc >= last_try_utc - INTERVAL 2 DAY
)

SELECT
    failed.report,
    failed.customer,
    failed.month,
    arg_max(failed.status, failed.fetched_at_utc) AS status,
    min(failed.fetched_at_utc) AS since_utc,
    max(failed.fetched_at_utc) AS failed_at_utc,
    nullif(arg_max(coalesce(failed.error_kind, ''), failed.fetched_at_utc), '') AS error_kind,
    nullif(arg_max(coalesce(failed.trouble, ''), failed.fetched_at_utc), '') AS trouble,
    arg_max(failed.error, failed.fetched_at_utc) AS error,
    nullif(arg_max(coalesce(failed.remedy, ''), failed.fetched_at_utc), '') AS remedy,
    nullif(arg_max(coalesce(failed.http_status, 0), failed.fetched_at_utc), 0) AS http_status,
    nullif(arg_max(coalesce(failed.last_try, ''), failed.fetched_at_utc), '') AS last_try,
    nullif(arg_max(coalesce(failed.login, ''), failed.fetched_at_utc), '') AS login
FROM failed
LEFT JOIN meta.months AS held
    ON held.report = failed.report
    AND held.customer = failed.customer
    AND held.month IS NOT DISTINCT FROM failed.month
    AND held.fetched_at_utc >= failed.fetched_at_utc
WHERE CASE
    WHEN failed.asked IS NULL THEN held.load_id IS NULL
    ELSE failed.load_id IN (FROM unanswered)
END
GROUP BY ALL;
