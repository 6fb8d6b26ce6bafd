-- To which office does a row without an office belong?
-- One row per customer that is an office itself, or answers for only one.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   office_id: customer id of the customer itself if it is an office, else of its only office
SELECT
    customer_id,
    CASE WHEN bool_or(office_id = customer_id) THEN customer_id ELSE any_value(office_id) END AS office_id
FROM staging.customer_offices
GROUP BY customer_id
HAVING bool_or(office_id = customer_id) OR count(*) = 1
