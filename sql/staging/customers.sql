-- Which customers do the settings name?
-- One row per customer that the settings name or once named.
-- Kind: table
-- Columns:
--   customer_id: customer id of an office or a group
--   customer_name: its name in the settings; null if it has none
--   start_month: first day of the first month to be kept; null when it is no longer in the settings
--   is_active: whether it is requested; what is loaded of it stays either way
--   region: its region in the settings; null if it has none
--   refused_reports: names of the reports that the service refuses for it, by name; null if it refuses none
WITH refused AS (
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
    refused.refused_reports
FROM meta.customers AS customers
LEFT JOIN refused USING (customer)
