-- Is a total over all months negative although it cannot be?
-- One row for each office, for the sales of each office, and for all users together, if a sum of prices, homes,
-- valuations or writing assignments is negative.
-- A single month, sale or user may be negative, if it takes back what was earned earlier, even before the first loaded
-- month: the check parts_and_prices_are_not_negative lists those. Commissions may be taken back, and are not checked
-- here.
-- Severity: error
-- Concerns: commission
WITH summed AS (
    SELECT
        'office' AS earner_kind,
        office_id AS earner_id,
        sum(sold_total_price) AS sold_total_price,
        sum(sold_estate_parts) AS sold_estate_parts,
        sum(writing_parts) AS writing_parts,
        sum(valuation_parts) AS valuation_parts
    FROM marts.office_month
    GROUP BY ALL
    UNION ALL
    SELECT
        'users', NULL, sum(sold_total_price), sum(sold_estate_parts), sum(writing_parts), sum(valuation_parts)
    FROM marts.user_month
    UNION ALL
    SELECT 'sales of an office', office_id, sum(final_price), NULL, NULL, NULL
    FROM marts.sales
    GROUP BY ALL
)

SELECT *
FROM summed
WHERE least(sold_total_price, sold_estate_parts, writing_parts, valuation_parts) < 0
