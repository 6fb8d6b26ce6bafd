-- How does a month that is not over compare with the same days of last year?
-- One row per period of marts.same_days; none where the month is over.
-- Parameters: kind, id, month, measure, report
SELECT
    period,
    first_on,
    until_on,
    sold_commission,
    sold_commission_before,
    sold_estate_parts AS homes,
    sold_estate_parts_before AS homes_before,
    sold_total_price,
    sold_total_price_before,
    earlier_office_count,
    missing_offices
FROM marts.same_days
WHERE is_around(level, member_id, month) AND is_made_by_sales()
ORDER BY period
