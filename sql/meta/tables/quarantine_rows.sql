-- Rows that broke their documented type, and where in landing they stand as they came.
-- Columns:
--   load_id: the load, as in meta.loads
--   report: name of the report in the catalogue
--   customer: the requested customer
--   month: first day of the month the row belongs to; null if unknown
--   table_name: the table of schema bi; a history goes by the name of its current view
--   column_name: the column that broke its type, if it was one
--   place: where in the answers of the landing file of the load the row stands
--   reason: what is wrong with it
--   fingerprint: tells whether two rows are the same, and that the right one was found
--   fetched_at_utc: when the service answered, in UTC
--   row_count: how many rows it stands for: 1; in loads of earlier versions it may be more
--   is_undatable: whether its date is missing or cannot be read, so that it may be of any month of its load; null if not
--     recorded
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
