-- Which id of its own does an office have beside its customer id?
-- One row per office of which leads name one such id and no other.
-- Columns:
--   office_id: customer id of the office
--   own_id: the office's own id
SELECT receiver_company_customer_number AS office_id, any_value(receiver_company_id) AS own_id
FROM bi.incoming_leads
WHERE receiver_company_customer_number IS NOT NULL AND receiver_company_id IS NOT NULL
GROUP BY ALL
HAVING count(DISTINCT receiver_company_id) = 1
ORDER BY ALL
