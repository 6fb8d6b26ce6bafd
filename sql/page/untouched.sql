-- Which offices have incoming leads and tips that nobody has touched, and how old are they?
-- One row per office, valuation requests that are older than two days first. Leads of offices that are not asked for any more
-- are left out, as nobody knows what became of them.
SELECT
    office_id,
    coalesce(any_value(office_name), office_id) AS office_name,
    count(*) FILTER (is_valuation_request AND age_days > 2) AS valuations,
    count(*) FILTER (age_band = '0-2 days') AS to_2,
    count(*) FILTER (age_band = '3-7 days') AS to_7,
    count(*) FILTER (age_band = '8-30 days') AS to_30,
    count(*) FILTER (age_band = 'over 30 days') AS longer,
    count(*) FILTER (way = 'tip') AS tips,
    max(counted_on) AS counted_on
FROM marts.untouched_leads
WHERE is_refreshed
GROUP BY office_id
ORDER BY valuations DESC, longer DESC, to_30 DESC, to_7 DESC, to_2 DESC, office_id
