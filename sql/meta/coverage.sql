-- Which months of each report and customer are loaded, and why are the other months not?
-- One row per report, customer and month that could be requested at the latest sync (meta.reports). If meta.reports has
-- no months of a report, as in a file of an earlier version, its months from the first to the last loaded one are here.
-- A report without months has one row with a null month. It has none if it is requested by id and was never answered,
-- because there may be nothing to request.
-- A loaded month stays held if access is denied later. A customer or report that is switched off misses nothing.
-- Columns:
--   report: name of the report
--   customer: the requested customer
--   month: first day of the month; null for a report without months
--   state: held (loaded), empty (loaded without a row), open (loaded before the month was over), failed, held back,
--     refused (403), off (switched off) or missing
--   is_held: whether the month is loaded, even if a later request for it failed
--   is_missing: whether the month is neither loaded nor switched off
WITH spans AS (
    SELECT
        report,
        coalesce(any_value(reports.first_month), min(months.month)) AS first_month,
        coalesce(any_value(reports.last_month), max(months.month)) AS last_month
    FROM meta.months AS months
    FULL JOIN meta.reports AS reports USING (report)
    GROUP BY report
),

months_to_load AS (
    SELECT
        freshness.report,
        freshness.customer,
        freshness.state AS freshness,
        unnest(
            CASE
                WHEN spans.first_month IS NULL THEN [NULL::DATE]
                ELSE generate_series(
                    greatest(spans.first_month, customers.start_month), spans.last_month, INTERVAL 1 MONTH
                )::DATE[]
            END
        ) AS month
    FROM meta.freshness AS freshness
    LEFT JOIN meta.reports AS reports USING (report)
    LEFT JOIN spans USING (report)
    LEFT JOIN meta.customers AS customers USING (customer)
    WHERE freshness.last_success_utc IS NOT NULL OR reports.is_awaited IS DISTINCT FROM false
),

judged AS (
    SELECT
        months_to_load.report,
        months_to_load.customer,
        months_to_load.month,
        CASE
            WHEN failed.status IS NOT NULL THEN failed.status
            WHEN held.state = 'open' THEN 'open'
            WHEN held.rows > 0 THEN 'held'
            WHEN held.state IS NOT NULL THEN 'empty'
            WHEN months_to_load.freshness = 'switched off' THEN 'off'
            WHEN months_to_load.freshness = 'no access' THEN 'refused'
            ELSE 'missing'
        END AS state,
        held.state IS NOT NULL AS is_held
    FROM months_to_load
    LEFT JOIN meta.months AS held
        ON (held.report, held.customer) = (months_to_load.report, months_to_load.customer)
        AND held.month IS NOT DISTINCT FROM months_to_load.month
    LEFT JOIN meta.open_failures AS failed
        ON (failed.report, failed.customer) = (months_to_load.report, months_to_load.customer)
        AND failed.month IS NOT DISTINCT FROM months_to_load.month
)

SELECT
    report,
    customer,
    month,
    state,
    is_held,
    NOT is_held AND state <> 'off' AS is_missing
FROM judged
