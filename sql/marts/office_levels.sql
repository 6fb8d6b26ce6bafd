-- Which offices make up each office, brand, region and the whole chain?
-- One row per level and office that is expected in any month. Marts with a column `level` have sums over these
-- offices: read one level, and never add up two.
-- Brand and region are the current ones, see marts.offices.
-- Kind: view
-- Key: level, member_id, office_id
-- Columns:
--   office_id: customer id of the office
--   level: office, brand, region or chain; never add up two levels
--   member_id: the office, brand or region that the office counts in. Null in two cases: for the chain; for an unknown
--     brand or region
--   member_name: name of the office, brand or region
SELECT
    unnest([
        {'level': 'office', 'member_id': office_id, 'member_name': coalesce(office_name, office_id)},
        {'level': 'brand', 'member_id': brand, 'member_name': brand},
        {'level': 'region', 'member_id': region, 'member_name': region},
        {'level': 'chain', 'member_id': NULL, 'member_name': NULL}
    ], recursive := true),
    office_id
FROM (SELECT DISTINCT office_id, office_name, brand, region FROM marts.office_coverage)
ORDER BY ALL
