-- How often was the office report compared with another report, and how often did they differ?
-- One row per other report and measure.
SELECT compared, measure, count(*) AS compared_count, count(*) FILTER (NOT is_reconciled) AS different_count
FROM marts.reconciliation
GROUP BY ALL
ORDER BY ALL
