-- Reports that the service denies to a customer (403). Also reports that were not requested, because several others
-- were denied and none was answered; these have no row in meta.loads.
-- Columns:
--   report: name of the report in the catalogue
--   customer: the requested customer
--   since_utc: since when the report has been denied or not requested, without an answer in between, in UTC
--   denied_at_utc: when it was last denied, or not requested, in UTC
CREATE TABLE IF NOT EXISTS meta.access (
    report VARCHAR,
    customer VARCHAR,
    since_utc TIMESTAMP,
    denied_at_utc TIMESTAMP
);
