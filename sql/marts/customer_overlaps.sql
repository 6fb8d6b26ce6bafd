-- Which customers answer for the same offices?
-- One row per pair of customers with an office in common; the user report is counted for the greater one.
-- Columns:
--   customer_id: the customer whose user report counts
--   yielding_customer_id: the customer whose user report gives way
--   shared_offices: offices that both answer for
--   is_contained: whether the greater one answers for all offices of the other
WITH offices_of_customers AS (
    SELECT customer_id, list(office_id ORDER BY office_id) AS offices
    FROM staging.customer_offices
    GROUP BY ALL
)
SELECT
    greater.customer_id,
    lesser.customer_id AS yielding_customer_id,
    array_to_string(list_sort(list_intersect(greater.offices, lesser.offices)), ', ') AS shared_offices,
    len(list_intersect(greater.offices, lesser.offices)) = len(lesser.offices) AS is_contained
FROM offices_of_customers AS greater
INNER JOIN offices_of_customers AS lesser
    ON list_has_any(greater.offices, lesser.offices)
    AND (len(greater.offices), lesser.customer_id) > (len(lesser.offices), greater.customer_id)
ORDER BY ALL
