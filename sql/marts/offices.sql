-- Which offices are there, and what are they called?
-- One row per office that a configured customer answers for; the name is the last one read, in whichever report.
-- Columns:
--   office_name: name of the office
--   office_city: town of the office
SELECT
    office_id,
    max(office_name) AS office_name,
    max(office_city) AS office_city
FROM staging.customer_offices
GROUP BY ALL
ORDER BY office_id
