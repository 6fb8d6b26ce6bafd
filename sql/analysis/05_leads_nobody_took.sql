-- Which offices have untouched leads, how old are they, and how many ask for a valuation?
-- One row per office, those with the most valuation requests 3 to 30 days old first, then those with the
-- most leads 3 to 30 days old. Closed offices come last.
--
-- Leads of the last two days are counted separately, because they are not overdue yet. A lead with the state New is
-- assumed to be untouched. marts.untouched_leads is the list to phone, sellers first.
-- Parameters: year, office
SELECT
    coalesce(office_name, office_id, 'no known office') AS office_name,
    closed_after_month,
    count(*) FILTER (is_valuation_request AND age_days BETWEEN 3 AND 30) AS "valuation requests, 3-30 days",
    count(*) FILTER (age_band = '3-7 days') AS "3-7 days",
    count(*) FILTER (age_band = '8-30 days') AS "8-30 days",
    count(*) FILTER (age_band = '31-90 days') AS "31-90 days",
    count(*) FILTER (age_band = 'over 90 days') AS "over 90 days",
    count(*) FILTER (age_days <= 2) AS of_the_last_two_days,
    max(counted_on) AS counted_on
FROM marts.untouched_leads
LEFT JOIN (SELECT office_id, closed_after_month FROM marts.dim_office) AS offices USING (office_id)
WHERE year(month) = coalesce(getvariable('year'), year(month))
    AND coalesce(office_id, '') = coalesce(getvariable('office'), office_id, '')
GROUP BY office_id, office_name, closed_after_month
ORDER BY closed_after_month IS NOT NULL, "valuation requests, 3-30 days" DESC, "3-7 days" + "8-30 days" DESC, of_the_last_two_days DESC, office_name;
