-- Which customers answer for which offices, and what are these called?
-- One row per customer and office for which its answers are still refreshed.
-- Columns:
--   customer_id: the customer that answers
--   office_id: customer id of the office
--   office_name: name of the office
SELECT DISTINCT sources.customer_id, sources.office_id, offices.office_name
FROM marts.office_sources AS sources
LEFT JOIN marts.offices AS offices USING (office_id)
WHERE sources.is_refreshed
ORDER BY ALL
