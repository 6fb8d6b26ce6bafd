-- Which customers are asked for, what are they called, and what is held of them?
-- One row per customer of the settings, and per customer of which something is held although it is there no more.
-- A customer is an office or a group; the name is that of the settings, else that of the office with the same id.
-- Columns:
--   customer_id: customer id of an office or a group
--   customer_name: its name in the settings, else of the office with its id; null where nobody named it
--   office_count: offices it answered for
--   offices: names of these offices, or their ids, by name
--   first_month: first day of the oldest month held of any report, of reports that look ahead aside
--   last_month: first day of the newest month held of any report, of reports that look ahead aside
WITH held AS (
    SELECT customer_id, min(month) AS first_month, max(month) AS last_month
    FROM staging.months
    WHERE report NOT IN (SELECT report FROM staging.months WHERE month > fetched_at_utc::DATE)
    GROUP BY ALL
),

answered AS (
    SELECT
        customer_id,
        count(*) AS office_count,
        array_to_string(list_sort(list(coalesce(office_name, office_id))), ', ') AS offices
    FROM staging.customer_offices
    GROUP BY ALL
)

SELECT
    customers.customer_id,
    coalesce(customers.customer_name, offices.office_name) AS customer_name,
    customers.start_month,
    customers.is_active,
    coalesce(office_count, 0) AS office_count,
    answered.offices,
    held.first_month,
    held.last_month
FROM staging.customers AS customers
LEFT JOIN marts.offices AS offices ON offices.office_id = customers.customer_id
LEFT JOIN answered ON answered.customer_id = customers.customer_id
LEFT JOIN held ON held.customer_id = customers.customer_id
ORDER BY customers.customer_id
