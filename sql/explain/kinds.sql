-- Which kinds of work is the commission of, beside the month before and the same months a year before?
-- One row per period: now, month before (of a single month) and year before, as far as its months are held.
-- Commission of sales alone may be unknown where it is not asked for apart; then nothing is said of it.
-- Without office and user it is the chain.
-- Parameters: office, user, first_month, month
WITH lines AS (
    SELECT
        month, commission, sold_commission, sold_estate_parts, writing_parts, valuation_parts, is_open,
        is_commission_complete
    FROM marts.office_month
    WHERE office_id = getvariable('office')
    UNION ALL
    SELECT
        month, commission, sold_commission, sold_estate_parts, writing_parts, valuation_parts, is_open,
        is_commission_complete
    FROM marts.user_month
    WHERE user_id = getvariable('user')
    UNION ALL
    SELECT
        month, commission, sold_commission, sold_estate_parts, writing_parts, valuation_parts, is_open,
        is_commission_complete
    FROM marts.chain_month
    WHERE getvariable('office') IS NULL AND getvariable('user') IS NULL
),

periods AS (
    SELECT 1 AS place, 'now' AS period, getvariable('first_month')::DATE AS first_month, getvariable('month')::DATE AS month
    UNION ALL
    SELECT 2, 'month before', getvariable('month')::DATE - INTERVAL 1 MONTH, getvariable('month')::DATE - INTERVAL 1 MONTH
    WHERE getvariable('first_month')::DATE = getvariable('month')::DATE
    UNION ALL
    SELECT 3, 'year before', getvariable('first_month')::DATE - INTERVAL 1 YEAR, getvariable('month')::DATE - INTERVAL 1 YEAR
)

SELECT
    periods.period,
    periods.first_month::DATE AS first_month,
    periods.month::DATE AS month,
    count(lines.commission) = datediff('month', periods.first_month, periods.month) + 1 AS is_held,
    bool_or(lines.is_open) AS is_open,
    bool_and(lines.is_commission_complete) AS is_commission_complete,
    sum(lines.commission) AS commission,
    CASE WHEN count(lines.sold_commission) = count(*) THEN sum(lines.sold_commission) END AS sold_commission,
    sum(lines.sold_estate_parts) AS sold_estate_parts,
    sum(lines.writing_parts) AS writing_parts,
    sum(lines.valuation_parts) AS valuation_parts
FROM periods
INNER JOIN lines ON lines.month BETWEEN periods.first_month AND periods.month
GROUP BY periods.place, periods.period, periods.first_month, periods.month
ORDER BY periods.place
