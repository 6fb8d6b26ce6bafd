-- How many older months a nightly run reads again, as the settings say.
-- Columns:
--   changed_months: older months that one nightly run reads again because a sale in them changed or two reports
--     disagree; 0 for never
CREATE TABLE IF NOT EXISTS meta.rereading (
    changed_months INTEGER
);
