-- Which months of which report are held, and by which load?
-- One row per report, customer and month in the ledger; what is not here is unknown, not zero.
-- Columns:
--   report: name of the report
--   customer_id: the customer that was asked, an office or a group
--   month: first day of the month
--   load_id: the load it comes from; joins meta.loads
--   fetched_at_utc: when the service gave that answer
--   loaded_at_utc: when that load was written
--   is_open: whether the month was not over yet when it was asked

SELECT
    report,
    customer AS customer_id,
    month,
    load_id,
    fetched_at_utc,
    loaded_at_utc,
    state = 'open' AS is_open
FROM meta.months
WHERE month IS NOT NULL
