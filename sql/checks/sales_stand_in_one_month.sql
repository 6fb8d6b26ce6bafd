-- Is an estate in two months because its contract date changed after the first month was last requested?
-- One row per estate and month that does not count; `sync --refresh` of these months repairs it.
-- Severity: warning
-- Concerns: sales
SELECT older.id AS estate_id, older._customer AS customer, older._month AS month, sales._month AS counted_month
FROM bi.sales_estates AS older
INNER JOIN marts.sales AS sales ON sales.estate_id = older.id
WHERE sales._customer = older._customer
    AND sales._month <> older._month
    AND sales.assignment IS NOT DISTINCT FROM older.assignment_text
