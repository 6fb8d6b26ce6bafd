-- The time zone of the brokerage: the settings name it for times that the service sends without an offset.
-- Columns:
--   timezone: name of the time zone, such as Europe/Stockholm
CREATE TABLE IF NOT EXISTS meta.clock (
    timezone VARCHAR
);
