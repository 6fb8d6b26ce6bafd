-- What did users earn in months at earlier builds?
-- One row per user, month and total once had; version 1 is the oldest.
SELECT * FROM meta.user_month_versions
