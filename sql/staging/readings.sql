-- When was each month of a report read?
-- One row per load and month that was loaded, even if a newer load has replaced it since. A superseded load is here
-- too: a replay skipped it, because a newer answer was loaded already.
-- Columns:
--   month: first day of the month
--   load_id: the load; joins meta.loads
--   is_loaded: whether its rows were loaded; false for a superseded load
--   read_at_utc: when the service gave the last answer to the run: all answers of a run are equally new
SELECT load_id, report, customer_id, unnest(months) AS month, status = 'loaded' AS is_loaded, read_at_utc
FROM (
    SELECT
        load_id,
        report,
        customer AS customer_id,
        months,
        status,
        max(fetched_at_utc) OVER (PARTITION BY coalesce(run_id, load_id)) AS read_at_utc
    FROM meta.loads
)
WHERE status IN ('loaded', 'superseded')
