-- Which columns of which tables every column of a mart is computed from.
CREATE TABLE IF NOT EXISTS meta.column_lineage (
    schema_name VARCHAR,
    table_name VARCHAR,
    column_name VARCHAR,
    from_schema_name VARCHAR,
    from_table_name VARCHAR,
    from_column_name VARCHAR
);
COMMENT ON TABLE meta.column_lineage IS 'Which columns of which tables every column of a mart is computed from.';
COMMENT ON COLUMN meta.column_lineage.schema_name IS 'marts';
COMMENT ON COLUMN meta.column_lineage.table_name IS 'the mart';
COMMENT ON COLUMN meta.column_lineage.column_name IS
    'its column; one that only counts rows, or says the same everywhere, comes from no column and is not here';
COMMENT ON COLUMN meta.column_lineage.from_schema_name IS 'bi, marts or meta';
COMMENT ON COLUMN meta.column_lineage.from_table_name IS 'the table that the mart is made of';
COMMENT ON COLUMN meta.column_lineage.from_column_name IS
    'a column that the value is computed from, or that a condition in its expression reads; not what rows are joined, grouped and ordered by';
