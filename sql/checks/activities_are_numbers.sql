-- Are there activities whose amount is a text that cannot be read, or a number in two ways, such as "1.250"?
-- One row per office, month and measure; such amounts are in no sum.
-- Severity: warning
-- Concerns: nothing
SELECT DISTINCT office_id, month, measure
FROM marts.activity
WHERE amount IS NULL
