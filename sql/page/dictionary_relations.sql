-- Which columns refer to a row of another table?
-- One row per such column.
SELECT
    schema_name, table_name, "columns"[1] AS column_name, to_schema_name, to_table_name, kind
FROM meta.relations
ORDER BY schema_name, table_name, column_name
