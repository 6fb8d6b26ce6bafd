-- How much of what is older one night reads again, as the settings say.
-- Columns:
--   changed_months: older months that one night reads again because a sale of theirs changed or two reports disagree; 0 for
--     never
CREATE TABLE IF NOT EXISTS meta.rereading (
    changed_months INTEGER
);
