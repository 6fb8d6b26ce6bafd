-- Months to be read again because the service stated a change, or because reports disagree.
-- Columns:
--   report: name of the report in the catalogue
--   customer: the requested customer
--   month: first day of the month
--   changed_at_utc: when the latest change was made, in UTC, as far as told; where reports disagree, when the later one was
--     read
--   noticed_at_utc: when we were told of it first, in UTC; where reports disagree, when the later one was read
--   estates: estates of the month that were named then; 0: none was, but reports disagree
--   load_id: the question that told of it, as in meta.probes; where reports disagree, the load of the later one, as in
--     meta.loads
CREATE TABLE IF NOT EXISTS meta.changes (
    report VARCHAR,
    customer VARCHAR,
    month DATE,
    changed_at_utc TIMESTAMP,
    noticed_at_utc TIMESTAMP,
    estates BIGINT,
    load_id VARCHAR
);
