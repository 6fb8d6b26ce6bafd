-- What was each sale like at earlier builds?
-- One row per estate and state it once had; version 1 is the oldest.
SELECT * FROM meta.sale_versions
