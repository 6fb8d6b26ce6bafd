-- Rows that broke their documented type, and where in landing they stand as they came.
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
COMMENT ON TABLE meta.quarantine_rows IS
    'Rows that broke their documented type, and where in landing they stand as they came.';
COMMENT ON COLUMN meta.quarantine_rows.load_id IS 'the load, as in meta.loads';
COMMENT ON COLUMN meta.quarantine_rows.report IS 'name of the report in the catalogue';
COMMENT ON COLUMN meta.quarantine_rows.customer IS 'the customer that was asked for';
COMMENT ON COLUMN meta.quarantine_rows.month IS 'first day of the month the row belongs to; null if unknown';
COMMENT ON COLUMN meta.quarantine_rows.table_name IS
    'the table of schema bi; a history goes by the name of its current view';
COMMENT ON COLUMN meta.quarantine_rows.column_name IS 'the column that broke its type, if it was one';
COMMENT ON COLUMN meta.quarantine_rows.place IS
    'where in the answers of the landing file of the load the row stands';
COMMENT ON COLUMN meta.quarantine_rows.reason IS 'what is wrong with it';
COMMENT ON COLUMN meta.quarantine_rows.fingerprint IS
    'tells whether two rows are the same, and that the right one was found';
COMMENT ON COLUMN meta.quarantine_rows.fetched_at_utc IS 'when the service answered, in UTC';
COMMENT ON COLUMN meta.quarantine_rows.row_count IS
    'how many rows it stands for: of very many, only the first are kept one by one';
COMMENT ON COLUMN meta.quarantine_rows.is_undatable IS
    'whether its date is missing or cannot be read, so that it may be of any month of its load; null where nobody noted it';
