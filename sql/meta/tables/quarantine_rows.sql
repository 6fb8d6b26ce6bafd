-- Rows that did not fit their table, and where in landing they are.
-- Columns:
--   load_id: the load, as in meta.loads
--   report: name of the report in the catalogue
--   customer: the requested customer
--   month: first day of the month the row belongs to; null if unknown
--   table_name: the table of schema bi; a history goes by the name of its current view
--   column_name: the column that did not fit; null if the whole row did not
--   place: where the row is in the answers of the load's landing file
--   reason: why it did not fit
--   fingerprint: a hash that tells whether two rows are the same
--   fetched_at_utc: when the service answered, in UTC
--   row_count: how many rows this row stands for: 1, or perhaps more in loads of earlier versions of brokerbi
--   is_undatable: whether its date is missing or cannot be read, so that it may belong to any month of its load; null
--     if that was not recorded
CREATE TABLE IF NOT EXISTS meta.quarantine_rows (
    load_id VARCHAR,
    report VARCHAR,
    customer VARCHAR,
    month DATE,
    table_name VARCHAR,
    column_name VARCHAR,
    place VARCHAR,
    reason VARCHAR,
    fingerprint VARCHAR,
    fetched_at_utc TIMESTAMP,
    row_count BIGINT,
    is_undatable BOOLEAN
);
