-- Which kinds of incoming leads turn into sales, and how long does it take?
-- One row per kind of lead, over all months held.
--
-- Only leads that name an estate can be matched to a sale, so the share is taken of those. Leads of the last
-- months have not had the time to become sales yet: leave them out, as here with those younger than 180 days.
SELECT
    lead_type,
    sum(lead_count) AS leads,
    sum(estate_lead_count) AS leads_with_estate,
    sum(sold_count) AS became_sales,
    round(100 * sum(sold_count) / nullif(sum(estate_lead_count), 0), 1) AS percent_of_leads_with_estate,
    round(sum(days_to_contract_total) / nullif(sum(sold_count), 0), 0) AS days_to_contract
FROM marts.lead_funnel
WHERE way = 'incoming lead'
    AND month < (SELECT max(month) FROM marts.office_month) - INTERVAL 180 DAY
GROUP BY lead_type
HAVING sum(lead_count) > 0
ORDER BY became_sales DESC, leads DESC;
