-- Where did the assignments that became sales come from?
-- One row per office, source, kind of home and month of the contract.
-- All numbers add up. The fee in percent is 100 * sum(commission) / sum(final_price); use at least 25 homes.
-- Kind: view
-- Key: month, office_id, intake_source, estate_type
-- Columns:
--   month: first day of the month of the contract
--   office_id: customer id of the listing office
--   office_name: name of the office
--   intake_source: where the assignment came from, as the service words it; null if it states none
--   estate_type: kind of home, as the service words it
--   home_count: homes sold, each counted once, at the listing office
--   commission: whole commission, all agents together; currency not documented, tax basis as declared in marts.tax_basis
--   final_price: sale prices; currency not documented
SELECT
    month,
    office_id,
    office_name,
    intake_source,
    estate_type,
    count(*) AS home_count,
    sum(commission)::DECIMAL(18, 4) AS commission,
    sum(final_price)::DECIMAL(18, 4) AS final_price
FROM marts.sales
GROUP BY ALL
ORDER BY month, office_id, intake_source, estate_type
