-- Which columns of a table point at a row of another, many to one.
CREATE TABLE IF NOT EXISTS meta.relations (
    schema_name VARCHAR,
    table_name VARCHAR,
    "columns" VARCHAR[],
    to_schema_name VARCHAR,
    to_table_name VARCHAR,
    to_columns VARCHAR[],
    kind VARCHAR
);
COMMENT ON TABLE meta.relations IS 'Which columns of a table point at a row of another, many to one.';
COMMENT ON COLUMN meta.relations.schema_name IS 'bi or marts';
COMMENT ON COLUMN meta.relations.table_name IS 'the table whose rows point';
COMMENT ON COLUMN meta.relations."columns" IS 'its columns; a row where they are null points at nothing';
COMMENT ON COLUMN meta.relations.to_schema_name IS 'bi, marts or meta';
COMMENT ON COLUMN meta.relations.to_table_name IS 'the table they point at, which may lack what another report knows';
COMMENT ON COLUMN meta.relations.to_columns IS 'its columns, in the same order';
COMMENT ON COLUMN meta.relations.kind IS
    'id: an office, user, sale or customer; parent: the row that it is nested in; load: the load it came with';
