-- Which columns identify a row of a table?
-- One row per key.
SELECT schema_name, table_name, "columns" AS column_names, kind
FROM meta.keys
ORDER BY schema_name, table_name, kind
