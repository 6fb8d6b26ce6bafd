-- Of which months is something missing, and what?
-- One row per report, customer and month, of the reports and customers of which a month is missing, failed or held back:
-- the newest thirty-six months of the report. `missing_count` is of the whole report.
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
