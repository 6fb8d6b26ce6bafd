-- What changed later in months that were over?
-- One row per change of rows or commission: the forty newest; in_all counts all of them.
SELECT
    noted_at_utc,
    report,
    coalesce(office_name, office_id) AS office_name,
    month,
    row_count_change AS rows_added,
    commission_before,
    commission_after,
    commission_change,
    count(*) OVER () AS in_all
FROM marts.restatements
WHERE row_count_change <> 0 OR round(commission_before, 2) IS DISTINCT FROM round(commission_after, 2)
ORDER BY noted_at_utc DESC, abs(commission_change) DESC NULLS LAST
LIMIT 40
