-- Were all of its rows loaded?
-- One row per customer, month, column and reason of rows that are in quarantine.
-- Severity: warning
SELECT report, customer, month, table_name, column_name, reason, "rows" AS row_count
FROM meta.quarantine
