-- The clock of the brokerage: what the settings say of times that the service sends without an offset.
CREATE TABLE IF NOT EXISTS meta.clock (
    timezone VARCHAR
);
COMMENT ON TABLE meta.clock IS
    'The clock of the brokerage: what the settings say of times that the service sends without an offset.';
COMMENT ON COLUMN meta.clock.timezone IS 'name of the time zone, such as Europe/Stockholm';
