-- Which months of which report are held, by which load, and are they still asked for?
-- One row per report, customer and month in the ledger; what is not here is unknown, not zero.
-- Columns:
--   report: name of the report
--   customer_id: the customer that was asked, an office or a group
--   month: first day of the month
--   load_id: the load it comes from; joins meta.loads
--   fetched_at_utc: when the service gave that answer
--   run_read_at_utc: when the service gave the last answer to this report in the same run: how new the answer is, since
--     which customer a run happens to ask first says nothing
--   loaded_at_utc: when that load was written
--   is_open: whether the month was not over yet when it was asked
--   source_state: asked for, customer removed (from the settings), customer switched off, access refused or report
--     switched off
--   is_refreshed: whether this report of this customer is still asked for; if not, what is held stays as it was
SELECT
    months.report,
    months.customer AS customer_id,
    months.month,
    months.load_id,
    months.fetched_at_utc,
    max(months.fetched_at_utc) OVER (PARTITION BY months.report, coalesce(loads.run_id, months.load_id))
        AS run_read_at_utc,
    months.loaded_at_utc,
    months.state = 'open' AS is_open,
    CASE
        WHEN NOT customers.is_active AND customers.start_month IS NULL THEN 'customer removed'
        WHEN NOT customers.is_active THEN 'customer switched off'
        WHEN refused.denied_at_utc IS NOT NULL THEN 'access refused'
        WHEN NOT reports.is_on THEN 'report switched off'
        ELSE 'asked for'
    END AS source_state,
    source_state = 'asked for' AS is_refreshed
FROM meta.months AS months
LEFT JOIN meta.loads AS loads ON loads.load_id = months.load_id
LEFT JOIN meta.customers AS customers ON customers.customer = months.customer
LEFT JOIN meta.reports AS reports ON reports.report = months.report
LEFT JOIN meta.access AS refused ON refused.report = months.report AND refused.customer = months.customer
WHERE months.month IS NOT NULL
