-- How does a month that is not over compare with the same days of last year?
-- One row per period of marts.same_days: the days of the month, and those from January on, each before the same of last year; none
-- where the month is over.
-- Parameters: kind, id, first_month, month, report
-- Columns:
--   offices_read_earlier: how many offices of the chain were read before the last of these days, so that theirs end earlier
--   missing_offices: offices that are in none of the sums
WITH periods AS (
    SELECT
        period = 'year to date' AS is_year,
        earlier_office_count,
        missing_offices,
        unnest([
            {
                'back': 0, 'first_on': first_on, 'last_on': until_on, 'sold_commission': sold_commission,
                'difference': NULL::DECIMAL(18, 4), 'homes': sold_estate_parts, 'price': sold_total_price
            },
            {
                'back': 1, 'first_on': (first_on - INTERVAL 1 YEAR)::DATE, 'last_on': (until_on - INTERVAL 1 YEAR)::DATE,
                'sold_commission': sold_commission_before,
                'difference': (sold_commission - sold_commission_before)::DECIMAL(18, 4),
                'homes': sold_estate_parts_before, 'price': sold_total_price_before
            }
        ], recursive := true)
    FROM marts.same_days
    WHERE level = getvariable('kind') AND (level = 'chain' OR member_id = getvariable('id'))
        AND month = getvariable('month')::DATE AND is_of_commissions()
        AND (period = 'year to date' OR getvariable('first_month')::DATE = month)
        AND (period = 'month' OR month(month) > 1)
)

SELECT
    first_on || ' to ' || last_on AS period,
    sold_commission,
    difference,
    CASE WHEN sold_commission > 0 THEN (difference / sold_commission)::DECIMAL(18, 4) END AS difference_share,
    homes,
    (price / nullif(homes, 0))::DECIMAL(28, 8) AS average_price,
    (100 * sold_commission / nullif(price, 0))::DECIMAL(18, 8) AS sold_commission_percentage,
    CASE WHEN getvariable('kind') = 'chain' THEN earlier_office_count ELSE 0 END AS offices_read_earlier,
    missing_offices
FROM periods
ORDER BY is_year, back
