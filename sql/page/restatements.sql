-- What changed later in months that were over?
-- One row per change: the forty newest; in_all counts all of them.
SELECT
    noted_at_utc,
    report,
    coalesce(office_name, office_id) AS office_name,
    month,
    row_count_change,
    commission_before,
    commission_after,
    commission_change,
    count(*) OVER () AS in_all
FROM marts.restatements
ORDER BY noted_at_utc DESC, abs(commission_change) DESC NULLS LAST
LIMIT 40
