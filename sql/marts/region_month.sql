-- What did each region of the chain earn and do, month by month?
-- One row per region of the settings and month that is loaded for any office. The row without a region covers
-- offices that have none in the settings. Regions add up to marts.chain_month.
-- Kind: view
-- Key: region, month
-- Columns:
--   region: region of the offices in the settings, see marts.offices
SELECT member_id AS region, * EXCLUDE (level, member_id)
FROM marts.level_month
WHERE level = 'region'
