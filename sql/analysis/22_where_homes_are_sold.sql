-- In which areas does each office sell, and at what price?
-- One row per office, year and area (report areas); a home in two areas counts in both.
-- Parameters: year, office
SELECT
    year(month) AS year,
    office_name,
    area_name,
    sum(sale_count) AS homes,
    round(sum(sold_total_price) / nullif(sum(sale_count), 0)) AS average_price,
    max(month) AS last_sale_month
FROM marts.area_month
WHERE year(month) = coalesce(getvariable('year'), year(month))
    AND office_id = coalesce(getvariable('office'), office_id)
GROUP BY ALL
ORDER BY year DESC, office_name, homes DESC;
