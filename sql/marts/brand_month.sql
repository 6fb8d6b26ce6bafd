-- What did each brand of the chain earn and do, month by month?
-- One row per brand and month that is loaded for any office. The row without a brand covers offices whose
-- brand is unknown.
-- An office counts under one brand, its current one (see marts.offices), so brands add up to marts.chain_month.
-- Kind: view
-- Key: brand, month
-- Columns:
--   brand: the trademark that the offices count under, see marts.offices
SELECT member_id AS brand, * EXCLUDE (level, member_id)
FROM marts.level_month
WHERE level = 'brand'
