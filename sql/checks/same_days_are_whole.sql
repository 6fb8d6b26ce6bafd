-- Are all sales of the year's months that are over, and of the same months of last year, in the same days?
-- One row per office of which they are not: a sale whose day of contract is unknown, or in another month, is missed or added.
-- Severity: warning
-- Concerns: nothing
WITH days AS (
    SELECT
        member_id AS office_id,
        month,
        sum(CASE period WHEN 'month' THEN -sold_commission ELSE sold_commission END) AS commission,
        sum(CASE period WHEN 'month' THEN -sold_commission_before ELSE sold_commission_before END) AS commission_before
    FROM marts.same_days
    WHERE level = 'office'
    GROUP BY member_id, month
    HAVING bool_or(period = 'year to date')
),

sold AS (
    SELECT
        coalesce(shares.user_office_id, sales.office_id) AS office_id,
        sales.month,
        CASE WHEN shares.estate_id IS NULL THEN sales.commission ELSE shares.commission END AS commission
    FROM marts.sales AS sales
    LEFT JOIN marts.sale_shares AS shares ON shares.estate_id = sales.estate_id
)

SELECT
    days.office_id,
    days.month,
    any_value(days.commission) AS commission_of_days,
    coalesce(sum(sold.commission) FILTER (sold.month >= date_trunc('year', days.month)), 0) AS commission_of_months,
    any_value(days.commission_before) AS commission_of_days_before,
    coalesce(sum(sold.commission) FILTER (sold.month < date_trunc('year', days.month)), 0) AS commission_of_months_before
FROM days
LEFT JOIN sold
    ON sold.office_id = days.office_id
    AND sold.month >= date_trunc('year', days.month) - INTERVAL 1 YEAR
    AND sold.month < days.month
    AND month(sold.month) < month(days.month)
GROUP BY days.office_id, days.month
HAVING (commission_of_days, commission_of_days_before) <> (commission_of_months, commission_of_months_before)
