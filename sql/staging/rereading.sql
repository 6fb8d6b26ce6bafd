-- How many older months does one nightly run read again?
-- One row, null if no run has recorded it.
-- Columns:
--   changed_months: older months that one nightly run reads again because a sale in them changed or two reports
--     disagree
SELECT any_value(changed_months) AS changed_months FROM meta.rereading
