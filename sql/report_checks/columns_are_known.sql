-- Has it had the same columns, of the same types, for a week?
-- One row per column that came later than its table and is new this week, or got another type this week.
-- Severity: warning
WITH tables_seen AS (
    SELECT table_name, min(first_seen_utc) AS first_seen_utc FROM meta.columns GROUP BY ALL
)

SELECT report, table_name, column_name, type, NULL AS type_before, columns.first_seen_utc AS since_utc
FROM meta.columns AS columns
INNER JOIN meta.tables USING (table_name)
INNER JOIN tables_seen USING (table_name)
WHERE NOT documented
    AND columns.first_seen_utc > tables_seen.first_seen_utc + INTERVAL 1 DAY
    AND columns.first_seen_utc > make_timestamp(epoch_us(now())) - INTERVAL 7 DAY
UNION ALL
SELECT report, table_name, column_name, to_type, from_type, changed_at_utc
FROM meta.column_changes
INNER JOIN meta.tables USING (table_name)
WHERE from_type <> 'NULL' AND load_id IS NOT NULL
    AND changed_at_utc > make_timestamp(epoch_us(now())) - INTERVAL 7 DAY
