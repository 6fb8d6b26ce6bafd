-- Which answer does a month of a report come from, which request fetched it, and in which file is it?
-- One row per report, customer and month that is loaded. For a row of a mart, see marts.sources_of.
-- The rows are in the tables that `tables` names, with load_id as _load_id and month as _month. The landing file has
-- every request with its query. `brokerbi explain` reads the file again.
-- Key: report, customer_id, month
-- Columns:
--   month: first day of the month
--   load_id: the load of the answer; joins meta.loads
--   fetched_at_utc: when the service gave the answer
SELECT
    months.report,
    months.customer_id,
    months.month,
    months.load_id,
    months.source_state,
    months.is_refreshed,
    loads.* EXCLUDE (load_id)
FROM staging.months AS months
INNER JOIN staging.loads AS loads USING (load_id)
ORDER BY months.month, months.customer_id, months.report
