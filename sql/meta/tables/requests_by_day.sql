-- What was asked of the service: requests by day, customer and report.
CREATE TABLE IF NOT EXISTS meta.requests_by_day (
    day DATE,
    customer VARCHAR,
    report VARCHAR,
    requests BIGINT,
    repeated BIGINT,
    failed BIGINT,
    bytes BIGINT,
    seconds DOUBLE
);
COMMENT ON TABLE meta.requests_by_day IS 'What was asked of the service: requests by day, customer and report.';
COMMENT ON COLUMN meta.requests_by_day.day IS 'the day, in UTC';
COMMENT ON COLUMN meta.requests_by_day.customer IS 'the customer that was asked for';
COMMENT ON COLUMN meta.requests_by_day.report IS 'name of the report in the catalogue';
COMMENT ON COLUMN meta.requests_by_day.requests IS 'requests made, every try counted';
COMMENT ON COLUMN meta.requests_by_day.repeated IS 'those of them that repeated an earlier try';
COMMENT ON COLUMN meta.requests_by_day.failed IS 'those of them that brought no answer to use';
COMMENT ON COLUMN meta.requests_by_day.bytes IS 'bytes received';
COMMENT ON COLUMN meta.requests_by_day.seconds IS 'seconds spent waiting for answers';
