-- How many leads of which kind came in, how far did they get, and how many became sales?
-- One row per month, office, way, kind and state of leads; a month that is held has a row with zero for every
-- kind and state that the office has ever had, and at least one row a way. A month without a row is unknown.
-- A lead counts in the month it was created and with the state it has now, so old months keep changing.
-- Columns:
--   month: first day of the month the leads were created in
--   office_id: customer id of the office the leads belong to; null where unknown
--   office_name: name of the office
--   lead_type: kind of lead, as the service words it; null where an office has none of that way
--   state: how far it has come, an open set; outgoing leads have none
--   lead_count: leads or tips
--   estate_lead_count: those of them that name an estate, and so can be matched to a sale at all
--   sold_count: those of them whose estate was sold later
--   days_to_contract_total: days from lead to contract, summed over the sold ones; divide by sold_count
WITH counted AS (
    SELECT
        month,
        office_id,
        way,
        lead_type,
        state,
        count(*) AS lead_count,
        count(estate_id) AS estate_lead_count,
        count(sold_on) AS sold_count,
        coalesce(sum(days_to_contract), 0)::BIGINT AS days_to_contract_total
    FROM marts.leads
    GROUP BY ALL
),

kinds AS (
    SELECT DISTINCT office_id, way, lead_type, state FROM counted
),

expected AS (
    SELECT held.month, held.office_id, ways.way, kinds.lead_type, kinds.state
    FROM marts.office_sources AS held
    CROSS JOIN (SELECT unnest(['incoming lead', 'outgoing lead', 'tip']) AS way) AS ways
    LEFT JOIN kinds ON kinds.office_id = held.office_id AND kinds.way = ways.way
    WHERE held.report = 'tips_and_leads'
),

without_any AS (
    SELECT expected.*
    FROM expected
    ANTI JOIN counted
        ON counted.month = expected.month
        AND counted.office_id = expected.office_id
        AND counted.way = expected.way
        AND counted.lead_type IS NOT DISTINCT FROM expected.lead_type
        AND counted.state IS NOT DISTINCT FROM expected.state
)

SELECT
    month,
    office_id,
    office_name,
    way,
    lead_type,
    state,
    coalesce(lead_count, 0) AS lead_count,
    coalesce(estate_lead_count, 0) AS estate_lead_count,
    coalesce(sold_count, 0) AS sold_count,
    coalesce(days_to_contract_total, 0) AS days_to_contract_total
FROM (SELECT * FROM counted UNION ALL BY NAME SELECT * FROM without_any)
LEFT JOIN marts.offices USING (office_id)
ORDER BY month, office_id, way, lead_type, state
