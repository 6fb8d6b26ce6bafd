-- Reports that the service denies to a customer (403), or that were not requested because several others were denied and
-- none was answered; a report that was not requested gets no row in meta.loads.
-- Columns:
--   report: name of the report in the catalogue
--   customer: the requested customer
--   since_utc: when it was first denied, or not requested, without an answer since, in UTC
--   denied_at_utc: when it was last denied, or not requested, in UTC
CREATE TABLE IF NOT EXISTS meta.access (
    report VARCHAR,
    customer VARCHAR,
    since_utc TIMESTAMP,
    denied_at_utc TIMESTAMP
);
