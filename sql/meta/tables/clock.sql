-- The clock of the brokerage: what the settings say of times that the service sends without an offset.
-- Columns:
--   timezone: name of the time zone, such as Europe/Stockholm
CREATE TABLE IF NOT EXISTS meta.clock (
    timezone VARCHAR
);
