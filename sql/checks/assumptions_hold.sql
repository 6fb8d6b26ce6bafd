-- Has an undocumented report arrived in another shape than our SQL assumes?
-- One row per query and table that differs; its mart is empty until the file is adapted.
-- Severity: warning
-- Concerns: commission
SELECT query, source, expected_columns, arrived_columns, missing_columns, message
FROM meta.assumptions
WHERE state = 'differs'
