-- Did commission of sales change since the year before by homes, by prices or by the fee?
-- One row per period of marts.commission_drivers.
-- Parameters: kind, id, month, measure, report
SELECT
    period,
    sold_commission,
    sold_commission_before,
    difference,
    homes_effect,
    price_effect,
    fee_effect,
    sold_estate_parts AS homes,
    sold_estate_parts_before AS homes_before,
    average_price,
    average_price_before,
    sold_commission_percentage,
    sold_commission_percentage_before,
    missing_offices
FROM marts.commission_drivers
WHERE is_around(level, member_id, month) AND is_made_by_sales()
ORDER BY period
