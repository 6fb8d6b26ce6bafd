-- Which office does a report mean by a number without the office's prefix, or with another prefix?
-- One row per number that only one office has. 101 and FIR101 are taken for M101.
-- Columns:
--   number: the office id without its leading letters
--   office_id: customer id of the office
SELECT office_number(office_id) AS number, any_value(office_id) AS office_id
FROM staging.customer_offices
GROUP BY number
HAVING count(DISTINCT office_id) = 1
