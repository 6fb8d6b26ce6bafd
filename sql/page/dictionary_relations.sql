-- Which columns point at a row of another table?
-- One row per column that points.
SELECT
    schema_name, table_name, "columns"[1] AS column_name, to_schema_name, to_table_name, kind
FROM meta.relations
ORDER BY schema_name, table_name, column_name
