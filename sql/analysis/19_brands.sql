-- How do the brands of the chain do, and how does each against the year before?
-- One row per brand; the months of the year so far, or of the year that is set.
--
-- An office counts under one brand, that of today. A brand of which a month of either year is missing or incomplete is
-- shown without a change: it would be compared with a gap.
-- Parameters: year
WITH last_month AS (
    SELECT max(month) AS month
    FROM marts.brand_month
    WHERE NOT is_open AND year(month) = coalesce(getvariable('year'), year(month))
),

years AS (
    SELECT
        brands.brand,
        year(brands.month) = year(last_month.month) AS is_this_year,
        sum(brands.commission) AS commission,
        sum(brands.sold_estate_parts) AS homes,
        sum(brands.sold_commission) AS sold_commission,
        count(*) = any_value(month(last_month.month)) AND bool_and(brands.is_commission_complete) AS is_whole
    FROM marts.brand_month AS brands
    CROSS JOIN last_month
    WHERE year(brands.month) BETWEEN year(last_month.month) - 1 AND year(last_month.month)
        AND month(brands.month) <= month(last_month.month)
    GROUP BY ALL
)

SELECT
    coalesce(this_year.brand, 'no brand known') AS brand,
    this_year.commission,
    before.commission AS commission_last_year,
    CASE WHEN this_year.is_whole AND before.is_whole
        THEN round(100 * (this_year.commission / nullif(before.commission, 0) - 1), 1)
    END AS change_percent,
    this_year.homes AS homes_sold,
    round(this_year.sold_commission / nullif(this_year.homes, 0), 0) AS average_commission,
    basis.commission_basis
FROM (FROM years WHERE is_this_year) AS this_year
LEFT JOIN (FROM years WHERE NOT is_this_year) AS before
    ON this_year.brand IS NOT DISTINCT FROM before.brand
CROSS JOIN marts.tax_basis AS basis
ORDER BY this_year.commission DESC;
