-- Reports that the service refuses a customer (403), or that were not asked for as it had refused every one before: those have
-- no request in meta.loads.
-- Columns:
--   report: name of the report in the catalogue
--   customer: the requested customer
--   since_utc: when it was first refused, or not asked for, without an answer since, in UTC
--   denied_at_utc: when it was last refused, or not asked for, in UTC
CREATE TABLE IF NOT EXISTS meta.access (
    report VARCHAR,
    customer VARCHAR,
    since_utc TIMESTAMP,
    denied_at_utc TIMESTAMP
);
