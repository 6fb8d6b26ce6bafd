-- Which load is in force for each month of each report and customer.
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
COMMENT ON TABLE meta.months IS 'Which load is in force for each month of each report and customer.';
COMMENT ON COLUMN meta.months.report IS 'name of the report in the catalogue';
COMMENT ON COLUMN meta.months.customer IS 'the customer that was asked for';
COMMENT ON COLUMN meta.months.month IS 'first day of the month; null for a report without months';
COMMENT ON COLUMN meta.months.load_id IS 'the load, as in meta.loads';
COMMENT ON COLUMN meta.months."rows" IS
    'rows of that month, over all tables of the report; of one that is asked by id those of the latest window';
COMMENT ON COLUMN meta.months.loaded_at_utc IS 'when the rows were written, in UTC';
COMMENT ON COLUMN meta.months.fetched_at_utc IS 'when the service answered, in UTC';
COMMENT ON COLUMN meta.months.state IS '''held'', or ''open'' when the month was not over yet';
COMMENT ON COLUMN meta.months.next_due_on IS
    'the day in whose night it is asked again, if none is missed; null where it is not asked again by itself';
COMMENT ON COLUMN meta.months.due_reason IS
    'the rule that says so: nightly, failed, changed, weekly or monthly (every four weeks)';
