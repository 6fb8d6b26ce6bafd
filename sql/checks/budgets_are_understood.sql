-- Are there budgets without an amount or a known office, or with several amounts at once?
-- One row per report and trouble; the shape of budgets is assumed, so look at its file in sql/staging.
-- Severity: warning
-- Concerns: budgets
SELECT report, measure, 'no amount, or none that is a number' AS trouble, count(*) AS row_count
FROM marts.budgets
WHERE amount IS NULL AND valid_to_utc IS NULL
GROUP BY ALL
UNION ALL
SELECT report, measure, 'several amounts at once for one office, user and month', count(*)
FROM (
    SELECT report, measure, office_id, user_id, month
    FROM marts.budgets
    WHERE valid_to_utc IS NULL
    GROUP BY ALL
    HAVING count(*) > 1
)
GROUP BY ALL
UNION ALL
SELECT DISTINCT reports.report, NULL, 'rows in the assumed shape arrived, but of no office that any report knows', row_count
FROM meta.assumptions
INNER JOIN meta.reports AS reports ON reports.subject = 'budgets' AND query = 'staging.' || reports.report
WHERE state = 'fits' AND row_count > 0 AND NOT EXISTS (FROM marts.budgets)
