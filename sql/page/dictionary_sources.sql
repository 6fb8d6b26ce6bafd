-- Which tables is a mart built from?
-- One row per mart.
SELECT
    'marts' AS schema_name,
    table_name,
    list(from_schema_name || '.' || from_table_name ORDER BY ALL) AS sources
FROM meta.mart_sources
GROUP BY ALL
ORDER BY ALL
