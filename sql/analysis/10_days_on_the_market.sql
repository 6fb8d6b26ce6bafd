-- How long are homes on the market, and how far from the asking price do they end?
-- One row per year and kind of estate with at least ten sales whose listing day is known.
--
-- Medians, because a few homes lie for years.
-- Parameters: year, office
SELECT
    year(month) AS year,
    estate_type,
    count(*) AS homes,
    median(days_from_listing_to_contract) AS median_days,
    round(100 * median(price_change / starting_price), 1) AS median_price_change_percent
FROM marts.sales
WHERE days_from_listing_to_contract IS NOT NULL AND starting_price > 0
    AND year(month) = coalesce(getvariable('year'), year(month))
    AND office_id = coalesce(getvariable('office'), office_id)
GROUP BY ALL
HAVING count(*) >= 10
ORDER BY year DESC, homes DESC;
