-- Which areas do offices have?
-- One row per office and area that is not archived, as last read.
-- Columns:
--   office_id: customer id of the office
--   area_id: id of the area
--   area_name: name of the area
--   outline: corners in their order, in WGS84
SELECT
    asked_customer_id AS office_id,
    area_id,
    arg_max(area_name, _fetched_at_utc) AS area_name,
    arg_max(
        from_json(lower(polygon_wgs84), '[{"longitud": "DOUBLE", "latitud": "DOUBLE"}]'), _fetched_at_utc
    ) AS outline
FROM bi.areas
WHERE area_id IS NOT NULL AND archived IS DISTINCT FROM true
GROUP BY ALL
