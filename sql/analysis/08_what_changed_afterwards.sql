-- Which months that were already reported have changed since, and by how much?
-- One row per office and month, over all changes found.
--
-- Totals are remembered at every load; a month that was still open is not counted as changed.
SELECT
    office_name,
    month,
    count(*) AS times,
    sum(commission_change) AS commission_change,
    max(noted_at_utc) AS last_noted_utc
FROM marts.restatements
WHERE report = 'commission_office'
GROUP BY ALL
ORDER BY abs(sum(commission_change)) DESC;
