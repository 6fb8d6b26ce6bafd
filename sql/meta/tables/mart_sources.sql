-- Which tables every mart is made of.
CREATE TABLE IF NOT EXISTS meta.mart_sources (
    table_name VARCHAR,
    from_schema_name VARCHAR,
    from_table_name VARCHAR
);
COMMENT ON TABLE meta.mart_sources IS 'Which tables every mart is made of, one step back.';
COMMENT ON COLUMN meta.mart_sources.table_name IS 'the mart';
COMMENT ON COLUMN meta.mart_sources.from_schema_name IS 'bi, marts or meta';
COMMENT ON COLUMN meta.mart_sources.from_table_name IS 'a table that its SQL reads';
