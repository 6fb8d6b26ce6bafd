-- What does every table and column mean?
-- One row per table, view or macro, and one per each of its columns, in the order of the file.
SELECT
    schema_name, table_name, column_name, kind, type, description, is_documented, source, report
FROM meta.dictionary
WHERE table_name IS NOT NULL
ORDER BY
    CASE schema_name WHEN 'marts' THEN 1 WHEN 'bi' THEN 2 ELSE 3 END,
    table_name
