-- What tells the rows of a table apart?
-- One row per key.
SELECT schema_name, table_name, "columns" AS column_names, kind
FROM meta.keys
ORDER BY schema_name, table_name, kind
