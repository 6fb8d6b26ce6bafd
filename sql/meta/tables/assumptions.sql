-- What our SQL assumes of undocumented tables.
-- Columns:
--   query: the query that assumes something, as schema and name; its file is below sql/
--   source: the undocumented table that it assumes something of
--   expected_columns: the columns it needs there
--   arrived_columns: the columns that have arrived
--   missing_columns: the columns it needs that have not
--   row_count: rows that have arrived
--   state: fits, nothing has arrived, or differs: then the query gives no rows
--   message: why it does not fit
CREATE TABLE IF NOT EXISTS meta.assumptions (
    query VARCHAR,
    source VARCHAR,
    expected_columns VARCHAR[],
    arrived_columns VARCHAR[],
    missing_columns VARCHAR[],
    row_count BIGINT,
    state VARCHAR,
    message VARCHAR
);
