-- Which id does the company of an office have beside its customer id? It may be the own id of the office.
-- One row per office of which leads name one such id and no other.
-- Columns:
--   office_id: customer id of the office
--   company_id: id of the company
SELECT receiver_company_customer_number AS office_id, any_value(receiver_company_id) AS company_id
FROM bi.incoming_leads
WHERE receiver_company_customer_number IS NOT NULL AND receiver_company_id IS NOT NULL
GROUP BY ALL
HAVING count(DISTINCT receiver_company_id) = 1
ORDER BY ALL
