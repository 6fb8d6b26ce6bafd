-- Of the homes that sellers asked about in all months loaded, how many are sold, and how many leads does a sold home draw?
-- One row per side of incoming leads, over all months loaded.
--
-- Only leads that name a home can be followed to a sale. percent_naming_a_home says how many do; what became of the
-- other leads is unknown.
-- Leads usually name no home before it is an assignment, so percent_of_named_homes_sold does not measure how many
-- enquirers became sellers. It covers sellers only: a home that a buyer asked about may be sold to anyone.
-- Every home counts once, at its first lead; homes sold before the lead are left out.
-- Leads of the last months have had little time to become sales. is_mature leaves out months that began less than 180
-- days before the latest loaded month.
-- The side is read from the words of the kind of lead; it is empty if they fit neither side.
-- Parameters: year, office
SELECT
    lead_side,
    string_agg(DISTINCT lead_type, ', ' ORDER BY lead_type) AS kinds,
    sum(lead_count) AS leads,
    round(100 * (1 - sum(no_home_lead_count) / nullif(sum(lead_count), 0)), 1) AS percent_naming_a_home,
    sum(home_count) AS named_homes,
    sum(sold_count) AS named_homes_sold,
    round(100 * sum(sold_count) FILTER (lead_side = 'seller') / nullif(sum(home_count), 0), 1)
        AS percent_of_named_homes_sold,
    round(
        sum(sold_home_lead_count) FILTER (lead_side IS DISTINCT FROM 'seller') / nullif(sum(sold_count), 0), 1
    ) AS leads_per_named_home_sold,
    round(sum(days_to_contract_total) / nullif(sum(sold_count), 0), 0) AS mean_days_from_first_lead_to_contract
FROM marts.lead_funnel
WHERE way = 'incoming lead'
    AND is_mature
    AND year(month) = coalesce(getvariable('year'), year(month))
    AND coalesce(office_id, '') = coalesce(getvariable('office'), office_id, '')
GROUP BY lead_side
HAVING sum(lead_count) > 0
ORDER BY lead_side DESC NULLS LAST;
