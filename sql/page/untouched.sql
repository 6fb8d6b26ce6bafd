-- Which offices have untouched leads and tips, and how old are they?
-- One row per office, those with most valuation requests older than two days first. Offices that are no longer
-- requested are left out, because the current state of their leads is not known.
SELECT
    office_id,
    coalesce(any_value(office_name), office_id) AS office_name,
    count(*) FILTER (is_valuation_request AND age_days > 2) AS valuations,
    count(*) FILTER (age_band = '0-2 days') AS to_2,
    count(*) FILTER (age_band = '3-7 days') AS to_7,
    count(*) FILTER (age_band = '8-30 days') AS to_30,
    count(*) FILTER (age_band = 'over 30 days') AS longer,
    count(*) FILTER (way = 'tip') AS tips,
    max(counted_on) AS counted_on,
    min(read_at_utc)::DATE AS read_on
FROM marts.untouched_leads
WHERE is_refreshed
GROUP BY office_id
ORDER BY valuations DESC, longer DESC, to_30 DESC, to_7 DESC, to_2 DESC, office_id
