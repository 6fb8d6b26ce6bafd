-- The customers of the settings, and those of which something is held although they are there no more.
CREATE TABLE IF NOT EXISTS meta.customers (
    customer VARCHAR,
    name VARCHAR,
    start_month DATE,
    is_active BOOLEAN,
    region VARCHAR
);
COMMENT ON TABLE meta.customers IS 'The customers of the settings, and those of which something is held although they are there no more.';
COMMENT ON COLUMN meta.customers.customer IS 'customer id, of an office or a group';
COMMENT ON COLUMN meta.customers.name IS 'its name in the settings; null or empty where nobody gave it one';
COMMENT ON COLUMN meta.customers.start_month IS
    'first day of the first month to be kept; null when no longer in the settings';
COMMENT ON COLUMN meta.customers.is_active IS 'whether it is asked for; what is held of it stays either way';
COMMENT ON COLUMN meta.customers.region IS 'its region in the settings; null where nobody gave it one';
