-- What did months add up to at earlier builds?
-- One row per report, office, month and total it once had; version 1 is the oldest.
SELECT * FROM meta.month_totals
