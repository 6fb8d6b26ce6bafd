-- Every total that a month of a report has had for an office, as builds of the marts found them.
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
COMMENT ON TABLE meta.month_totals IS
    'Every total that a month of a report has had for an office, as builds of the marts found them.';
COMMENT ON COLUMN meta.month_totals.report IS 'name of the report';
COMMENT ON COLUMN meta.month_totals.office_id IS 'customer id of the office';
COMMENT ON COLUMN meta.month_totals.month IS 'first day of the month';
COMMENT ON COLUMN meta.month_totals.customer_id IS 'the customer whose answer counted';
COMMENT ON COLUMN meta.month_totals.load_id IS 'the load the total was worked out from; joins meta.loads';
COMMENT ON COLUMN meta.month_totals.loaded_at_utc IS 'when that load was written';
COMMENT ON COLUMN meta.month_totals.is_open IS 'whether the month was not over yet when it was asked';
COMMENT ON COLUMN meta.month_totals.version IS '1 for the first total, 2 for the next';
COMMENT ON COLUMN meta.month_totals.noted_at_utc IS
    'when the service gave the newest answer that was in the file as this total was found';
COMMENT ON COLUMN meta.month_totals.row_count IS 'rows that count for the office';
COMMENT ON COLUMN meta.month_totals.commission IS
    'commission, in SEK where earned in steps, else of a currency that is not documented; null where the report has none';
COMMENT ON COLUMN meta.month_totals.price IS
    'prices of what was sold, currency not documented; null where the report has none';
COMMENT ON COLUMN meta.month_totals.estate_parts IS 'homes sold; null where the report has none';
