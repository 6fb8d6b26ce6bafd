-- Which offices have untouched leads, how old are they, and how many ask for a valuation?
-- One row per office, those with the most old valuation requests first.
--
-- Leads of the last two days are counted separately, because they are not overdue yet. New is the service's word; that it
-- means untouched is assumed. marts.untouched_leads is the list to phone, sellers first.
-- Parameters: year, office
SELECT
    coalesce(office_name, 'no known office') AS office_name,
    count(*) FILTER (is_valuation_request AND age_days > 2) AS valuation_requests_left_lying,
    count(*) FILTER (age_days > 2) AS left_lying,
    count(*) FILTER (age_band = '3-7 days') AS "3-7 days",
    count(*) FILTER (age_band = '8-30 days') AS "8-30 days",
    count(*) FILTER (age_band = 'over 30 days') AS "over 30 days",
    count(*) FILTER (age_days <= 2) AS of_the_last_two_days,
    max(counted_on) AS counted_on
FROM marts.untouched_leads
WHERE year(month) = coalesce(getvariable('year'), year(month))
    AND coalesce(office_id, '') = coalesce(getvariable('office'), office_id, '')
GROUP BY office_id, office_name
ORDER BY valuation_requests_left_lying DESC, left_lying DESC, office_name;
