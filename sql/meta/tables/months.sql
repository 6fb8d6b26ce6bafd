-- Which load is current for each month of each report and customer.
-- Columns:
--   report: name of the report in the catalogue
--   customer: the requested customer
--   month: first day of the month; null for a report without months
--   load_id: the load, as in meta.loads
--   rows: rows of the month, over all tables of the report; for a report requested by id, the rows of the latest window
--   loaded_at_utc: when the rows were written, in UTC
--   fetched_at_utc: when the service answered, in UTC
--   state: 'held', or 'open' if the month was not over when it was requested
--   next_due_on: the day whose nightly run requests it again; null if it is not requested again automatically
--   due_reason: the rule that sets this day: nightly, failed, changed, weekly, monthly (every four weeks) or
--     unsettled
CREATE TABLE IF NOT EXISTS meta.months (
    report VARCHAR,
    customer VARCHAR,
    month DATE,
    load_id VARCHAR,
    "rows" BIGINT,
    loaded_at_utc TIMESTAMP,
    fetched_at_utc TIMESTAMP,
    state VARCHAR,
    next_due_on DATE,
    due_reason VARCHAR
);
