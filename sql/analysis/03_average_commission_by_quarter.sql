-- How does the average commission of a sale develop, quarter by quarter?
-- One row per quarter and office, with the chain as a whole on a row without an office.
--
-- Averages cannot be averaged: every one is worked out from sums, also the chain's. is_whole is false of a quarter
-- that is not over, or of which a month is not held to its end: compare its homes with nothing.
-- Parameters: year, office
SELECT
    date_trunc('quarter', month)::DATE AS quarter,
    office_name,
    round(sum(sold_commission) / nullif(sum(sold_estate_parts), 0), 0) AS average_commission,
    round(100 * sum(sold_commission) / nullif(sum(sold_total_price), 0), 2) AS percent_of_price,
    sum(sold_estate_parts) AS homes_sold,
    count(DISTINCT month) = 3 AND NOT bool_or(is_open) AND bool_and(is_commission_complete) AS is_whole,
    any_value(commission_basis) AS commission_basis
FROM marts.office_month
CROSS JOIN marts.tax_basis
WHERE commission IS NOT NULL
    AND year(month) = coalesce(getvariable('year'), year(month))
    AND office_id = coalesce(getvariable('office'), office_id)
GROUP BY GROUPING SETS ((1, office_id, office_name), (1))
ORDER BY quarter, office_name NULLS FIRST;
