-- How many older months a nightly run reads again, as the settings say.
-- Columns:
--   changed_months: how many older months a nightly run reads again at most, because a sale in them changed or two
--     reports disagree; 0 for none
CREATE TABLE IF NOT EXISTS meta.rereading (
    changed_months INTEGER
);
