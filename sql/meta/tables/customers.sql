-- The customers of the settings, and former ones that meta.loads has.
-- Columns:
--   customer: customer id, of an office or a group
--   name: name of the customer in the settings; null or empty if it has none
--   start_month: first day of the first month to load; null if the customer is no longer in the settings
--   is_active: whether the customer is requested; its loaded rows stay either way
--   region: region of the customer in the settings; null if it has none
CREATE TABLE IF NOT EXISTS meta.customers (
    customer VARCHAR,
    name VARCHAR,
    start_month DATE,
    is_active BOOLEAN,
    region VARCHAR
);
