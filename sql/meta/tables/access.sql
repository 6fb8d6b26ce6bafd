-- Reports that the service refuses a customer (403), or that were not asked for as it had refused every one before.
CREATE TABLE IF NOT EXISTS meta.access (
    report VARCHAR,
    customer VARCHAR,
    since_utc TIMESTAMP,
    denied_at_utc TIMESTAMP
);
COMMENT ON TABLE meta.access IS
    'Reports that the service refuses a customer (403), or that were not asked for as it had refused every one before: those have no request in meta.loads.';
COMMENT ON COLUMN meta.access.report IS 'name of the report in the catalogue';
COMMENT ON COLUMN meta.access.customer IS 'the customer that was asked for';
COMMENT ON COLUMN meta.access.since_utc IS 'when it was first refused, or not asked for, without an answer since, in UTC';
COMMENT ON COLUMN meta.access.denied_at_utc IS 'when it was last refused, or not asked for, in UTC';
