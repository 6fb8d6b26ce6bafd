-- Every total that a month of a report has had for an office, as builds of the marts found it.
-- Columns:
--   report: name of the report
--   office_id: customer id of the office
--   month: first day of the month
--   customer_id: the customer whose answer counted
--   load_id: the load that the total was computed from; joins meta.loads
--   loaded_at_utc: when that load was written
--   is_open: whether the month was not over yet when it was requested
--   version: 1 for the first total, 2 for the next
--   noted_at_utc: time of the newest answer in the file when this total was found
--   row_count: rows that count for the office
--   commission: commission, in SEK if earned in steps, else in a currency that is not documented; null if the report
--     has none
--   price: prices of what was sold, currency not documented; null if the report has none
--   estate_parts: homes sold; null if the report has none
CREATE TABLE IF NOT EXISTS meta.month_totals (
    report VARCHAR,
    office_id VARCHAR,
    month DATE,
    customer_id VARCHAR,
    load_id VARCHAR,
    loaded_at_utc TIMESTAMP,
    is_open BOOLEAN,
    version BIGINT,
    noted_at_utc TIMESTAMP,
    row_count BIGINT,
    commission DECIMAL(18, 4),
    price DECIMAL(18, 4),
    estate_parts DECIMAL(18, 8)
);
