-- How many are looking for a home, where and at which price?
-- One row per office, area and class of prices that somebody looks for; there is none where the report of search
-- profiles is off. Only contacts of leads are asked for, so it is no count of all who look. Who looks in several areas
-- counts in each: never add up areas. Profiles without an area are in a row without one.
-- Key: office_id, area_id, price_class
-- Columns:
--   office_id: customer id of the office
--   area_id: id of the area; null of profiles that name none
--   area_name: name of the area, where the report of areas knows it
--   price_class: the highest price looked for, in whole millions and rounded up; null of profiles that name none
--   contact_count: contacts who look
--   profile_count: their profiles
--   automatic_profile_count: those of them that the system made
WITH by_area AS (
    SELECT
        office_id,
        contact_id,
        profile_id,
        is_automatic,
        unnest(CASE WHEN len(area_ids) = 0 THEN [NULL] ELSE area_ids END) AS area_id,
        ceil(highest_price / 1000000)::BIGINT AS price_class
    FROM staging.search_profiles
)

SELECT
    by_area.office_id,
    by_area.area_id,
    any_value(areas.area_name) AS area_name,
    by_area.price_class,
    count(DISTINCT by_area.contact_id) AS contact_count,
    count(DISTINCT by_area.profile_id) AS profile_count,
    count(DISTINCT by_area.profile_id) FILTER (by_area.is_automatic) AS automatic_profile_count
FROM by_area
LEFT JOIN staging.areas AS areas ON areas.office_id = by_area.office_id AND areas.area_id = by_area.area_id
GROUP BY ALL
ORDER BY by_area.office_id, by_area.area_id, by_area.price_class
