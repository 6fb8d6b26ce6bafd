-- What tells one row of a table from the others.
CREATE TABLE IF NOT EXISTS meta.keys (
    schema_name VARCHAR,
    table_name VARCHAR,
    "columns" VARCHAR[],
    kind VARCHAR
);
COMMENT ON TABLE meta.keys IS 'What tells one row of a table from the others.';
COMMENT ON COLUMN meta.keys.schema_name IS 'bi or marts';
COMMENT ON COLUMN meta.keys.table_name IS 'the table';
COMMENT ON COLUMN meta.keys."columns" IS 'the columns that are unique together; some may be null';
COMMENT ON COLUMN meta.keys.kind IS
    'grain: one row each, of a mart; row: our own number of a row of bi; documented: the service''s id of a row of bi, unique within a customer and month';
