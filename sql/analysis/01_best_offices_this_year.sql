-- Which offices have earned most in this year's whole months, and how do they compare with the same months of last year?
-- One row per office; the year is that of the latest month that is over, unless the variable year is set.
--
-- year_over_year has both years side by side. The row of the latest month that is over has the sums so far. A sum is
-- null if one of its months is not completely loaded. A change is null if one of its sums is, or if the office has
-- closed or began after January of last year.
-- Parameters: year, office
SELECT
    office_name,
    is_closed AS has_closed,
    (year_to_date_commission / vat_divisor)::DECIMAL(18, 4) AS commission_so_far,
    (year_to_date_commission_before / vat_divisor)::DECIMAL(18, 4) AS commission_last_year,
    round(100 * year_to_date_change_share, 1) AS change_percent,
    year_to_date_parts AS homes_sold,
    divided_basis AS commission_basis
FROM marts.year_over_year
CROSS JOIN marts.tax_basis
WHERE month = (
    SELECT max(month) FROM marts.year_over_year
    WHERE NOT is_open AND year(month) = coalesce(getvariable('year'), year(month))
)
    AND office_id = coalesce(getvariable('office'), office_id)
ORDER BY commission_so_far DESC;
