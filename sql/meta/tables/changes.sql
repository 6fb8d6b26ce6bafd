-- Months to be read again: the service stated a change, or the marts suggest one, for example because reports disagree.
-- Columns:
--   report: name of the report in the catalogue
--   customer: the requested customer
--   month: first day of the month
--   changed_at_utc: when the latest change was made, in UTC, as stated; if the marts suggest it, about when the answer
--     that shows it was read
--   noticed_at_utc: when the change was first read, in UTC; if the marts suggest it, the same as changed_at_utc
--   estates: changed estates of the month; 0 if the marts suggest the change
--   load_id: the request that found the change, as in meta.probes; if the marts suggest it, a load that they compared,
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
