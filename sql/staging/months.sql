-- Which months of which report are loaded, by which load, and are they still requested?
-- One row per report, customer and month in the ledger. A month without a row is unknown, not zero.
-- Kind: table
-- Columns:
--   report: name of the report
--   customer_id: the requested customer, an office or a group
--   month: first day of the month
--   load_id: the load it comes from; joins meta.loads
--   fetched_at_utc: when the service gave that answer
--   run_read_at_utc: when the service gave the last answer to this report in the same run, for any customer; all
--     answers to a report in a run count as equally new
--   run_began_at_utc: when the service gave the first answer of that run; only answers that are still loaded count
--   loaded_at_utc: when that load was written
--   is_open: whether the month was not over yet when it was requested
--   source_state: asked for (still requested), or why it is not: customer removed (from the settings), customer
--     switched off, report switched off, access refused (403), login refused (401) or not found (all answers of the
--     latest run were 404)
--   is_refreshed: whether this report of this customer is still requested and found; if not, its rows stay as loaded
--   is_cut_short: whether it was last requested before the month was over and is no longer requested, so that the
--     rest of the month is missing
--   is_unfinished: whether the month was last requested before its end, although another answer shows that it is over
--   lacks_rows: whether a row of the answer is in quarantine or names an ambiguous office, so that its amounts are
--     unknown. A row without a readable date may belong to any month of its load. Nested rows, and rows of months that
--     were not requested, do not count
--   is_partial: whether something of the month is missing: it was cut short, is unfinished or lacks rows
--   is_growing: whether the month is not over, or its end is still to be requested; false if it is both cut short and
--     unfinished
--   is_current: whether it is still requested, or was last read at least twelve months after it began; only the
--     thirteen latest months are read regularly
WITH lacking_months AS (
    SELECT report, customer, month
    FROM meta.quarantine
    WHERE table_name NOT IN (SELECT table_name FROM meta.tables WHERE parent_name IS NOT NULL)
    UNION
    SELECT 'commission_office', customer_id, month
    FROM staging.commission_office
    WHERE office_id IS NULL
),

undatable_loads AS (
    SELECT DISTINCT load_id
    FROM meta.quarantine_rows
    WHERE is_undatable
),

-- a run counts as not found only if all its answers were 404
runs AS (
    SELECT
        report,
        customer,
        coalesce(run_id, load_id) AS run_id,
        max(fetched_at_utc) AS fetched_at_utc,
        bool_and(http_status IS NOT DISTINCT FROM 404) AS is_not_found
    FROM meta.loads
    GROUP BY ALL
),

latest_runs AS (
    SELECT report, customer, max_by(is_not_found, fetched_at_utc) AS is_not_found
    FROM runs
    GROUP BY ALL
)

SELECT
    months.report,
    months.customer AS customer_id,
    months.month,
    months.load_id,
    months.fetched_at_utc,
    max(months.fetched_at_utc) OVER (PARTITION BY months.report, coalesce(loads.run_id, months.load_id))
        AS run_read_at_utc,
    min(months.fetched_at_utc) OVER (PARTITION BY coalesce(loads.run_id, months.load_id)) AS run_began_at_utc,
    months.loaded_at_utc,
    months.state = 'open' AS is_open,
    CASE
        WHEN NOT customers.is_active AND customers.start_month IS NULL THEN 'customer removed'
        WHEN NOT customers.is_active THEN 'customer switched off'
        WHEN NOT reports.is_on THEN 'report switched off'
        WHEN freshness.state = 'no access' THEN 'access refused'
        WHEN freshness.state = 'login refused' THEN 'login refused'
        WHEN latest_runs.is_not_found THEN 'not found'
        ELSE 'asked for'
    END AS source_state,
    source_state = 'asked for' AS is_refreshed,
    is_open AND NOT is_refreshed AS is_cut_short,
    lacking_months.month IS NOT NULL OR undatable_loads.load_id IS NOT NULL AS lacks_rows,
    is_open AND (
        bool_or(months.state = 'held') OVER (PARTITION BY months.report, months.month)
        OR local_time(max(months.fetched_at_utc) OVER ()) >= months.month + INTERVAL 1 MONTH
    ) AS is_unfinished,
    lacks_rest(is_cut_short, is_unfinished) OR lacks_rows AS is_partial,
    is_open AND NOT (is_cut_short AND is_unfinished) AS is_growing,
    is_refreshed OR months.fetched_at_utc >= months.month + INTERVAL 12 MONTH AS is_current
FROM meta.months AS months
LEFT JOIN meta.loads AS loads ON loads.load_id = months.load_id
LEFT JOIN meta.customers AS customers ON customers.customer = months.customer
LEFT JOIN meta.reports AS reports ON reports.report = months.report
LEFT JOIN meta.freshness AS freshness ON freshness.report = months.report AND freshness.customer = months.customer
LEFT JOIN latest_runs ON latest_runs.report = months.report AND latest_runs.customer = months.customer
LEFT JOIN lacking_months
    ON lacking_months.report = months.report AND lacking_months.customer = months.customer AND lacking_months.month = months.month
LEFT JOIN undatable_loads ON undatable_loads.load_id = months.load_id
WHERE months.month IS NOT NULL
