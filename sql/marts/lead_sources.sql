-- Who sends the leads, and what becomes of them?
-- One row per office, sender and month. All numbers add up.
-- Kind: view
-- Key: month, office_id, sender_name
-- Columns:
--   month: first day of the month in which the leads were created
--   office_id: customer id of the office that received the leads; null if unknown
--   office_name: name of the office
--   sender_name: who sent the leads, as the service names the sender; null if it states none
--   lead_count: incoming leads, without removed ones
--   new_lead_count: incoming leads with the state New, without removed ones
--   home_count: homes that the leads name, each counted at the first lead of its side; without leads of buyers
--   sold_count: homes of home_count that were sold later
SELECT
    month,
    office_id,
    office_name,
    sender_name,
    count(*) AS lead_count,
    count(*) FILTER (state = 'New') AS new_lead_count,
    count(*) FILTER (is_first_of_home AND lead_side IS DISTINCT FROM 'buyer') AS home_count,
    count(sold_on) FILTER (is_first_of_home AND lead_side IS DISTINCT FROM 'buyer') AS sold_count
FROM marts.leads
WHERE way = 'incoming lead' AND NOT is_removed
GROUP BY ALL
ORDER BY month, office_id, sender_name
