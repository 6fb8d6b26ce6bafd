-- Does a documented id occur twice in one answer?
-- One row per table, load, month and id that occurs more than once.
-- Severity: warning
-- Concerns: commission
-- For each: SELECT meta.tables.table_name, report, "key"[1] AS id FROM meta.tables SEMI JOIN duckdb_tables() AS made
--   ON made.schema_name = 'bi' AND made.table_name = meta.tables.table_name WHERE NOT history AND len("key") = 1
-- Columns:
--   report: name of the report
--   table_name: the table of bi
--   load_id: the load that the rows came with; joins meta.loads
--   id: the id that occurs twice
--   month: first day of the month
--   row_count: how often the id occurs
SELECT
    '{report}' AS report, '{table_name}' AS table_name, _load_id AS load_id, "{id}" AS id, _month AS month,
    count(*) AS row_count
FROM bi."{table_name}"
WHERE "{id}" IS NOT NULL
GROUP BY ALL
HAVING count(*) > 1
