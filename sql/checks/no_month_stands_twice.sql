-- Do the rows of a month come from other loads than the current one?
-- One row per table, customer, month and load that has rows of the month, although meta.months does not name that load
-- for the month.
-- Severity: error
-- Concerns: commission
-- For each: SELECT meta.tables.table_name, report FROM meta.tables SEMI JOIN duckdb_tables() AS made
--   ON made.schema_name = 'bi' AND made.table_name = meta.tables.table_name WHERE NOT history AND parent_name IS NULL
WITH month_loads AS (
    SELECT _customer, _month, _load_id, count(*) AS row_count
    FROM bi."{table_name}"
    WHERE _month IS NOT NULL
    GROUP BY ALL
)

SELECT
    '{report}' AS report, month_loads._customer AS customer, month_loads._month AS month, month_loads._load_id AS load_id, month_loads.row_count
FROM month_loads
LEFT JOIN meta.months AS current
    ON current.report = '{report}'
    AND current.customer = month_loads._customer
    AND current.month = month_loads._month
    AND current.load_id = month_loads._load_id
WHERE current.load_id IS NULL
