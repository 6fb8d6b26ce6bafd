-- Where do leads lie untouched, how old are they, and which of them ask for a valuation?
-- One row per office, those with the most old valuation requests first.
--
-- A lead of the last two days is not yet left lying, so it is counted apart. New is the service's word, and that it means
-- untouched is assumed. The list to phone, those of sellers first, is marts.untouched_leads.
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
