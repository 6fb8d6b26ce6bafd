-- Reports the service has refused (403) for a customer.
CREATE TABLE IF NOT EXISTS meta.access (
    report VARCHAR,
    customer VARCHAR,
    denied_at_utc TIMESTAMP
);
COMMENT ON TABLE meta.access IS 'Reports the service has refused (403) for a customer.';
COMMENT ON COLUMN meta.access.report IS 'name of the report in the catalogue';
COMMENT ON COLUMN meta.access.customer IS 'the customer that was asked for';
COMMENT ON COLUMN meta.access.denied_at_utc IS 'when it was refused, in UTC';
