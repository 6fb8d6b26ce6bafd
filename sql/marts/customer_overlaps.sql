-- Which customers answer for the same offices?
-- One row per pair of customers with an office in common, even if one of them is switched off.
-- No office is counted twice: marts.office_sources and marts.user_sources have the answer that counts.
-- Key: customer_id, yielding_customer_id
-- Columns:
--   customer_id: the customer that answers for more offices; if both answer for equally many, the first by id
--   yielding_customer_id: the other customer
--   shared_offices: offices that both answer for
--   is_contained: whether customer_id answers for all offices of yielding_customer_id. An office that has moved away
--     from a customer is not counted as the customer's
--   is_asked_twice: whether an office is requested twice: both customers are still requested, and the office has not
--     moved away from either
WITH offices_of_customers AS (
    SELECT
        customer_id,
        list(office_id ORDER BY office_id) AS offices,
        coalesce(list(office_id) FILTER (NOT has_moved), []) AS present_offices
    FROM staging.customer_offices
    GROUP BY ALL
)
SELECT
    larger.customer_id,
    smaller.customer_id AS yielding_customer_id,
    array_to_string(list_sort(list_intersect(larger.offices, smaller.offices)), ', ') AS shared_offices,
    list_has_all(larger.present_offices, smaller.present_offices) AS is_contained,
    list_has_any(larger.present_offices, smaller.present_offices) AND NOT EXISTS (
        SELECT 1
        FROM staging.customers AS customers
        WHERE NOT customers.is_active AND customers.customer_id IN (larger.customer_id, smaller.customer_id)
    ) AS is_asked_twice
FROM offices_of_customers AS larger
INNER JOIN offices_of_customers AS smaller
    ON list_has_any(larger.offices, smaller.offices)
    AND (len(larger.offices), smaller.customer_id) > (len(smaller.offices), larger.customer_id)
ORDER BY ALL
