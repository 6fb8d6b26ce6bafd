-- Which columns of a table refer to a row of another table, many to one.
-- Columns:
--   schema_name: bi or marts
--   table_name: the table whose rows refer to another
--   columns: the referring columns; a row with nulls there refers to nothing
--   to_schema_name: bi, marts or meta
--   to_table_name: the table that they refer to, which may lack rows that another report has
--   to_columns: the columns referred to, in the same order
--   kind: id: an office, user, sale or customer; parent: the row that a row is nested in; load: the load that it came
--     with
CREATE TABLE IF NOT EXISTS meta.relations (
    schema_name VARCHAR,
    table_name VARCHAR,
    "columns" VARCHAR[],
    to_schema_name VARCHAR,
    to_table_name VARCHAR,
    to_columns VARCHAR[],
    kind VARCHAR
);
