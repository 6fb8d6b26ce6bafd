-- In which areas does an office sell?
-- One row per office, area and month in which a home was sold there; there is none where the report of areas is off.
-- A home lies in an area of its listing office whose outline holds its position. Areas may overlap, and then it counts
-- in each: never add up areas, and compare with office_sale_count instead.
-- Key: office_id, area_id, month
-- Columns:
--   office_id: customer id of the listing office, whose area it is
--   office_name: name of the office
--   area_id: id of the area
--   area_name: name of the area
--   month: first day of the month of the contract
--   sale_count: homes sold in the area
--   sold_total_price: their sale prices together; currency not documented
--   average_price: sale price of the average home; currency not documented
--   average_price_change: sale price less asking price, of the average home that has both
--   office_sale_count: homes that the office sold in the month, wherever they lie
--   office_located_sale_count: those of them that have a position
WITH of_offices AS (
    SELECT
        *,
        count(*) OVER (PARTITION BY office_id, month) AS office_sale_count,
        count(latitude + longitude) OVER (PARTITION BY office_id, month) AS office_located_sale_count
    FROM marts.sales
)

SELECT
    of_offices.office_id,
    of_offices.office_name,
    areas.area_id,
    areas.area_name,
    of_offices.month,
    count(*) AS sale_count,
    sum(of_offices.final_price)::DECIMAL(18, 4) AS sold_total_price,
    avg(of_offices.final_price)::DECIMAL(18, 4) AS average_price,
    avg(of_offices.final_price - of_offices.starting_price)::DECIMAL(18, 4) AS average_price_change,
    any_value(of_offices.office_sale_count) AS office_sale_count,
    any_value(of_offices.office_located_sale_count) AS office_located_sale_count
FROM of_offices
INNER JOIN staging.areas AS areas
    ON areas.office_id = of_offices.office_id AND lies_in(of_offices.longitude, of_offices.latitude, areas.outline)
GROUP BY ALL
ORDER BY of_offices.month, of_offices.office_id, areas.area_id
