-- What our SQL assumes of undocumented tables.
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
COMMENT ON TABLE meta.assumptions IS 'What our SQL assumes of undocumented tables.';
COMMENT ON COLUMN meta.assumptions.query IS
    'the query that assumes something, as schema and name; its file is below sql/';
COMMENT ON COLUMN meta.assumptions.source IS 'the undocumented table that it assumes something of';
COMMENT ON COLUMN meta.assumptions.expected_columns IS 'the columns it needs there';
COMMENT ON COLUMN meta.assumptions.arrived_columns IS 'the columns that have arrived';
COMMENT ON COLUMN meta.assumptions.missing_columns IS 'the columns it needs that have not';
COMMENT ON COLUMN meta.assumptions.row_count IS 'rows that have arrived';
COMMENT ON COLUMN meta.assumptions.state IS 'fits, nothing has arrived, or differs: then the query gives no rows';
COMMENT ON COLUMN meta.assumptions.message IS 'why it does not fit';
