-- Which customers do the settings name?
-- One row per customer of the settings, and per customer that was once asked for.
-- Columns:
--   customer_id: customer id of an office or a group
--   customer_name: its name in the settings; null where nobody gave it one
--   start_month: first day of the first month to be kept; null when it is no longer in the settings
--   is_active: whether it is asked for; what is held of it stays either way
SELECT
    customer AS customer_id,
    nullif(name, '') AS customer_name,
    start_month,
    is_active
FROM meta.customers
