-- Which columns of which tables does a column of a mart come from?
-- One row per column and table it comes from.
SELECT
    schema_name, table_name, column_name, from_schema_name, from_table_name,
    list(from_column_name ORDER BY from_column_name) AS from_column_names
FROM meta.column_lineage
GROUP BY ALL
ORDER BY ALL
