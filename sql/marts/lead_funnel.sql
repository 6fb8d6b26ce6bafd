-- How many leads of which kind came in, and what became of the homes that they name?
-- One row per month, office, way, kind and state of leads. A loaded month has a row for each kind and state that the
-- office has ever had, even if all its numbers are zero. A month without a row is unknown.
-- A lead counts in the month in which it was created, with its current state, so old months keep changing.
-- A home counts once per way and side. To add up homes over sides, use distinct_home_count and distinct_sold_count.
-- Never add up homes over ways.
-- Conversion (sold_count / home_count) is meaningful only for sellers, in months with is_mature. It leaves out leads
-- that name no home, usually because the home is no assignment yet: show no_home_lead_count / lead_count with it.
-- The number of buyer leads per sold home, no matter who bought it, is sum(sold_home_lead_count) / sum(sold_count) over
-- all rows with the lead_side buyer.
-- Example: three leads of sellers name one home, which is sold later. Then lead_count and sold_home_lead_count are 3,
-- and home_count and sold_count are 1.
-- Kind: view
-- Key: month, office_id, way, lead_type, state
-- Columns:
--   month: first day of the month in which the leads were created
--   office_id: customer id of the office that received the leads, or sent the outgoing leads or tips; null if unknown
--   office_name: name of the office
--   lead_type: kind of lead, as the service words it. Null in two cases: if the service states none; if the office has
--     never had leads of the way, so that the row has only zeros
--   state: state of the leads, such as New or Done; others are possible; null for outgoing leads
--   is_mature: whether the month began more than 180 days before the latest loaded month of leads, so that most sales
--     from its leads are known
--   lead_side: seller or buyer, by the words of lead_type. Null in two cases: if they name neither; for outgoing leads
--     and tips
--   lead_count: leads or tips, without removed ones
--   removed_lead_count: leads or tips that the service lists as removed; in no other count
--   no_home_lead_count: leads that name no home
--   after_sale_lead_count: leads about a home that was sold before the lead was created; in no count of homes
--   estate_lead_count: leads about a home that was not sold before the lead was created
--   home_count: homes that the leads name, each counted at the first lead of its way and side
--   sold_count: homes of home_count that were sold later
--   distinct_home_count: homes that the leads name, each counted at the first lead of its way on any side, so that sums
--     over sides count a home once
--   distinct_sold_count: homes of distinct_home_count that were sold later
--   sold_home_lead_count: leads, not homes, about a home that was sold later
--   days_to_contract_total: days from the first lead about a home to its contract, summed over sold_count
WITH kinds AS (
    SELECT DISTINCT office_id, way, lead_type, lead_side, state FROM marts.leads
),

-- The kinds and states of leads that an office ever had, for each of its loaded months: without leads they get zeros.
kinds_by_month AS (
    SELECT sources.month, sources.office_id, ways.way, kinds.lead_type, kinds.lead_side, kinds.state
    FROM marts.office_sources AS sources
    CROSS JOIN (SELECT unnest(['incoming lead', 'outgoing lead', 'tip']) AS way) AS ways
    LEFT JOIN kinds ON kinds.office_id = sources.office_id AND kinds.way = ways.way
    WHERE sources.report = 'tips_and_leads'
)

SELECT
    month,
    office_id,
    office_name,
    way,
    lead_type,
    any_value(lead_side) AS lead_side,
    state,
    month < (SELECT max(month) FROM marts.office_sources WHERE report = 'tips_and_leads') - INTERVAL 180 DAY
        AS is_mature,
    count(*) FILTER (NOT is_removed) AS lead_count,
    count(*) FILTER (is_removed) AS removed_lead_count,
    count(*) FILTER (NOT is_removed AND estate_id IS NULL) AS no_home_lead_count,
    count(*) FILTER (NOT is_removed AND is_after_sale) AS after_sale_lead_count,
    count(estate_id) FILTER (NOT is_removed AND NOT is_after_sale) AS estate_lead_count,
    count(*) FILTER (is_first_of_home) AS home_count,
    count(sold_on) FILTER (is_first_of_home) AS sold_count,
    count(*) FILTER (is_first_on_any_side) AS distinct_home_count,
    count(sold_on) FILTER (is_first_on_any_side) AS distinct_sold_count,
    count(sold_on) FILTER (NOT is_removed) AS sold_home_lead_count,
    coalesce(sum(days_to_contract) FILTER (is_first_of_home), 0)::BIGINT AS days_to_contract_total
FROM (SELECT * EXCLUDE (office_name) FROM marts.leads UNION ALL BY NAME SELECT * FROM kinds_by_month)
LEFT JOIN marts.offices USING (office_id)
GROUP BY month, office_id, office_name, way, lead_type, state
ORDER BY month, office_id, way, lead_type, state
