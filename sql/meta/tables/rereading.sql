-- How many older months a nightly run reads again, as the settings say.
-- Columns:
--   changed_months: older months that one night reads again because a sale of theirs changed or two reports disagree; 0 for
--     never
CREATE TABLE IF NOT EXISTS meta.rereading (
    changed_months INTEGER
);
