-- Were rows left out because a value does not fit its documented type?
-- One row per report, customer, month, column and reason.
-- Severity: warning
-- Concerns: commission
SELECT report, customer, month, table_name, column_name, reason, "rows" AS row_count, first_place
FROM meta.quarantine
