-- Which months are held?
-- One row per report, customer and month; a report without months has none.
SELECT report, customer, month, state, rows
FROM meta.months
WHERE month IS NOT NULL
ORDER BY ALL
