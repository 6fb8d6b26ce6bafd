-- The newest snapshot merged so far, for each report, customer, month and requested id.
-- Columns:
--   report: name of the report in the catalogue
--   customer: the requested customer
--   month: first day of the month; null for a report without months
--   asked: the requested id, if only its rows were compared
--   load_id: the load, as in meta.loads
--   fetched_at_utc: when the service answered, in UTC
--   changed_at_utc: when an answer last differed from the previous answer, in UTC; null if none ever did
CREATE TABLE IF NOT EXISTS meta.history_scopes (
    report VARCHAR,
    customer VARCHAR,
    month DATE,
    asked VARCHAR,
    load_id VARCHAR,
    fetched_at_utc TIMESTAMP,
    changed_at_utc TIMESTAMP
);
