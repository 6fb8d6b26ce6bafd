-- Which offices have untouched leads and tips, and how old are they?
-- One row per office, those with most valuation requests of 3 to 30 days first, then those with most leads of 3 to 30
-- days. Closed offices come last. Offices that are no longer requested are left out, because the current state of their
-- leads is not known.
SELECT
    office_id,
    coalesce(any_value(office_name), office_id) AS office_name,
    count(*) FILTER (is_valuation_request AND age_days BETWEEN 3 AND 30) AS valuations,
    count(*) FILTER (age_days <= 2) AS to_2,
    count(*) FILTER (age_days BETWEEN 3 AND 7) AS to_7,
    count(*) FILTER (age_days BETWEEN 8 AND 30) AS to_30,
    count(*) FILTER (age_days BETWEEN 31 AND 90) AS to_90,
    count(*) FILTER (age_days > 90) AS longer,
    count(*) FILTER (way = 'tip') AS tips,
    closed_after_month,
    max(counted_on) AS counted_on,
    local_day(min(read_at_utc)) AS read_on
FROM marts.untouched_leads
LEFT JOIN (SELECT office_id, closed_after_month FROM marts.dim_office) AS offices USING (office_id)
WHERE is_refreshed
GROUP BY office_id, closed_after_month
ORDER BY closed_after_month IS NOT NULL, valuations DESC, to_7 + to_30 DESC, to_2 DESC, office_id
