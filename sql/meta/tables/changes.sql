-- Months to be read again because the service stated a change, or because reports disagree.
-- Columns:
--   report: name of the report in the catalogue
--   customer: the requested customer
--   month: first day of the month
--   changed_at_utc: when the latest change was made, in UTC, as stated; if reports disagree, when the later report was
--     read
--   noticed_at_utc: when the change was first read, in UTC; if reports disagree, when the later report was read
--   estates: changed estates of the month; 0 if reports disagree
--   load_id: the request that found the change, as in meta.probes; if reports disagree, the load of the later report,
--     as in meta.loads
CREATE TABLE IF NOT EXISTS meta.changes (
    report VARCHAR,
    customer VARCHAR,
    month DATE,
    changed_at_utc TIMESTAMP,
    noticed_at_utc TIMESTAMP,
    estates BIGINT,
    load_id VARCHAR
);
