-- How many leads of which kind came in, how far did they get, and how many became sales?
-- One row per month, office, way, kind and state of leads; months without a lead have no row.
-- A lead counts in the month it was created and with the state it has now, so old months keep changing.
-- Columns:
--   month: first day of the month the leads were created in
--   lead_count: leads or tips
--   estate_lead_count: those of them that name an estate, and so can be matched to a sale at all
--   sold_count: those of them whose estate was sold later
--   days_to_contract_total: days from lead to contract, summed over the sold ones; divide by sold_count
SELECT
    month,
    office_id,
    office_name,
    way,
    lead_type,
    state,
    count(*) AS lead_count,
    count(estate_id) AS estate_lead_count,
    count(sold_on) AS sold_count,
    coalesce(sum(days_to_contract), 0)::BIGINT AS days_to_contract_total
FROM marts.leads
GROUP BY ALL
ORDER BY ALL
