-- Which months are incomplete, and why?
-- One row per report, customer and month, of reports and customers with a month that is missing, failed or held back:
-- the newest thirty-six months of the report. missing_count covers the whole report.
SELECT
    report,
    customer,
    month,
    state,
    is_missing OR state IN ('failed', 'held back') AS is_trouble,
    count(*) FILTER (is_missing) OVER (PARTITION BY report) AS missing_count
FROM meta.coverage
WHERE month IS NOT NULL
QUALIFY
    bool_or(is_trouble) OVER (PARTITION BY report, customer)
    AND month > max(month) OVER (PARTITION BY report) - INTERVAL 36 MONTH
ORDER BY report, customer, month DESC
