-- How much of what is older does one night read again?
-- One row; null if no build has been told.
-- Columns:
--   changed_months: older months that one night reads again because a sale of theirs changed or two reports disagree
SELECT any_value(changed_months) AS changed_months FROM meta.rereading
