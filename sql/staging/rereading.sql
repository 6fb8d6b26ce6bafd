-- How many older months does one nightly run read again?
-- One row; null if no run has recorded it.
-- Columns:
--   changed_months: older months that one night reads again because a sale of theirs changed or two reports disagree
SELECT any_value(changed_months) AS changed_months FROM meta.rereading
