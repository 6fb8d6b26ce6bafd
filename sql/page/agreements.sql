-- How often was the office report compared with another report, and how often did they differ?
-- One row per other report and measure.
SELECT compared, replace(measure, 'sold estate parts', 'homes sold') AS measure,
    count(is_reconciled) AS office_months_compared, count(*) FILTER (NOT is_reconciled) AS of_which_differ
FROM marts.reconciliation
GROUP BY ALL
ORDER BY ALL
