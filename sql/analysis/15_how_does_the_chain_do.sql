-- How is the chain doing, brand by brand, and is every office included?
-- One row per month and brand, after a row for the whole chain, which is the sum of the brands: never add it to them.
-- The latest twelve months, or the variable year.
--
-- If is_complete is false, the amount is too low: the month is not over (is_open), or missing_offices names the missing
-- offices. Running commissions have a column of their own and must not be added to the commission.
-- Parameters: year
SELECT
    month,
    CASE level WHEN 'chain' THEN 'the whole chain' ELSE coalesce(member_id, 'no known brand') END AS brand,
    (commission / vat_divisor)::DECIMAL(18, 4) AS commission,
    sold_estate_parts AS homes_sold,
    running_commission_sek_excl_vat AS running_commission,
    office_count,
    expected_office_count,
    is_open,
    is_complete AND NOT is_open AS is_complete,
    missing_offices,
    divided_basis AS commission_basis
FROM marts.level_month
CROSS JOIN marts.tax_basis
WHERE level IN ('chain', 'brand')
    AND CASE
        WHEN getvariable('year') IS NULL THEN month > (SELECT max(month) FROM marts.chain_month) - INTERVAL 12 MONTH
        ELSE year(month) = getvariable('year')
    END
ORDER BY month DESC, level = 'brand', brand;
