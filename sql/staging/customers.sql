-- Which customers do the settings name?
-- One row per customer that the settings name or once named.
-- Kind: table
-- Columns:
--   customer_id: customer id of an office or a group
--   customer_name: name of the customer in the settings; null if it has none
--   start_month: first day of the first month to load; null if the customer is no longer in the settings
--   is_active: whether the customer is requested; its loaded rows stay either way
--   region: region of the customer in the settings; null if it has none
--   refused_reports: names of the reports that the service denies to the customer; null if it denies none
WITH denials AS (
    SELECT customer, array_to_string(list_sort(list(report)), ', ') AS refused_reports
    FROM meta.access
    GROUP BY ALL
)

SELECT
    customers.customer AS customer_id,
    nullif(customers.name, '') AS customer_name,
    customers.start_month,
    customers.is_active,
    customers.region,
    denials.refused_reports
FROM meta.customers AS customers
LEFT JOIN denials USING (customer)
