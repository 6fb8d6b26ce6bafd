-- Which columns of a table point at a row of another, many to one.
-- Columns:
--   schema_name: bi or marts
--   table_name: the table whose rows point
--   columns: its columns; a row with nulls there points at nothing
--   to_schema_name: bi, marts or meta
--   to_table_name: the table they point at, which may lack rows that another report has
--   to_columns: its columns, in the same order
--   kind: id: an office, user, sale or customer; parent: the row that it is nested in; load: the load it came with
CREATE TABLE IF NOT EXISTS meta.relations (
    schema_name VARCHAR,
    table_name VARCHAR,
    "columns" VARCHAR[],
    to_schema_name VARCHAR,
    to_table_name VARCHAR,
    to_columns VARCHAR[],
    kind VARCHAR
);
