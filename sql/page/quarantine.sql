-- Which rows were set aside, and why?
-- One row per report, table, column and reason: the twenty with most rows; in_all counts all of them.
SELECT
    report,
    table_name,
    column_name,
    reason,
    sum(rows)::BIGINT AS row_count,
    min(month) AS first_month,
    max(month) AS last_month,
    count(*) OVER () AS in_all
FROM meta.quarantine
GROUP BY report, table_name, column_name, reason
ORDER BY row_count DESC, report, table_name, column_name, reason
LIMIT 20
