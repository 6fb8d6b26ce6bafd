-- The customers of the settings, and former ones whose rows are still loaded.
-- Columns:
--   customer: customer id, of an office or a group
--   name: its name in the settings; null or empty if it has none
--   start_month: first day of the first month to be loaded; null when no longer in the settings
--   is_active: whether it is requested; what is loaded of it stays either way
--   region: its region in the settings; null if it has none
CREATE TABLE IF NOT EXISTS meta.customers (
    customer VARCHAR,
    name VARCHAR,
    start_month DATE,
    is_active BOOLEAN,
    region VARCHAR
);
