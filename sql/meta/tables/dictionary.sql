-- What every table and column here means.
CREATE TABLE IF NOT EXISTS meta.dictionary (
    schema_name VARCHAR,
    table_name VARCHAR,
    column_name VARCHAR,
    kind VARCHAR,
    type VARCHAR,
    description VARCHAR,
    is_documented BOOLEAN,
    source VARCHAR,
    report VARCHAR,
    first_seen_utc TIMESTAMP
);
COMMENT ON TABLE meta.dictionary IS 'What every table and column here means.';
COMMENT ON COLUMN meta.dictionary.schema_name IS 'bi, marts or meta';
COMMENT ON COLUMN meta.dictionary.table_name IS 'the table, view or macro; null for the schema itself';
COMMENT ON COLUMN meta.dictionary.column_name IS 'the column; null for the table itself';
COMMENT ON COLUMN meta.dictionary.kind IS 'schema, table, view, table macro or column';
COMMENT ON COLUMN meta.dictionary.type IS 'the type of a column';
COMMENT ON COLUMN meta.dictionary.description IS 'what it means, with unit, currency and tax where known';
COMMENT ON COLUMN meta.dictionary.is_documented IS
    'whether the service''s documentation knows it and its name in the answer; null for what is ours';
COMMENT ON COLUMN meta.dictionary.source IS 'where in the service''s answer it stands; null for what is ours';
COMMENT ON COLUMN meta.dictionary.report IS 'the report it belongs to; null for what is ours';
COMMENT ON COLUMN meta.dictionary.first_seen_utc IS 'when an answer first had it, in UTC';
