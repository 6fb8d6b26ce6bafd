-- How many rows could not be loaded?
-- One row per report, customer and month with such rows.
-- Columns:
--   report: name of the report
--   customer_id: the requested customer, an office or a group
--   month: first day of the month; null if it is unknown
--   row_count: rows in quarantine
SELECT report, customer AS customer_id, month, sum("rows")::BIGINT AS row_count
FROM meta.quarantine
GROUP BY ALL
