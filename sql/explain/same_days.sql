-- How does a month that is not over compare with the same days of last year?
-- One row per period: the days of the month, and those from January on, each before the same of last year; none where
-- the month is over. The days of each office end with the one before its sales list was last read and count by day of
-- contract, so only what is in that list can be compared, by the shares that count here. There is no row of days of
-- which a month of sales is not held.
-- Parameters: kind, id, first_month, month, report
-- Columns:
--   offices_read_earlier: how many offices of the chain were read before the last of these days, so that theirs end earlier
WITH held AS (
    SELECT
        earned.month,
        coalesce(bool_or(sales.is_growing), false) AS is_running,
        max(same_days_until(sales.fetched_at_utc, clock)) AS until_on
    FROM marts.office_sources AS earned
    LEFT JOIN marts.office_sources AS sales
        ON sales.report = 'sales' AND sales.office_id = earned.office_id AND sales.month = earned.month
    LEFT JOIN meta.clock AS clock ON true
    LEFT JOIN marts.user_month AS users
        ON users.user_id = getvariable('id') AND users.office_id = earned.office_id AND users.month = earned.month
    WHERE earned.report = 'commission_office' AND is_of_commissions() AND is_asked_for(earned.office_id, users.user_id)
    GROUP BY earned.month
    HAVING count(*) = count(*) FILTER (NOT (sales.is_cut_short OR sales.lacks_rows))
),

offices_read AS (
    SELECT office_id, same_days_until(fetched_at_utc, clock) AS until_on
    FROM marts.office_sources
    LEFT JOIN meta.clock AS clock ON true
    WHERE report = 'sales' AND month = getvariable('month')::DATE
),

periods AS (
    SELECT
        place,
        back,
        (
            CASE WHEN place > 2 THEN date_trunc('year', month) ELSE getvariable('first_month')::DATE END
            - back * INTERVAL 1 YEAR
        )::DATE AS first_on,
        (least(until_on, last_day(month)) - back * INTERVAL 1 YEAR)::DATE AS last_on
    FROM held
    CROSS JOIN (VALUES (1, 0), (2, 1), (3, 0), (4, 1)) AS known (place, back)
    WHERE month = getvariable('month')::DATE AND is_running
        AND (place < 3 OR getvariable('first_month')::DATE > date_trunc('year', month))
),

periods_held AS (
    SELECT periods.*
    FROM periods
    INNER JOIN held ON held.month BETWEEN periods.first_on AND periods.last_on
    GROUP BY ALL
    HAVING count(*) = datediff('month', first_on, last_on) + 1
),

shares AS (
    SELECT
        sales.contract_on, offices.until_on, shares.commission, shares.commission_share, shares.final_price_part
    FROM marts.sale_shares AS shares
    INNER JOIN marts.sales AS sales USING (estate_id)
    INNER JOIN offices_read AS offices ON offices.office_id = shares.user_office_id
    WHERE is_asked_for(shares.user_office_id, shares.user_id)
),

summed AS (
    SELECT
        place,
        first_on || ' to ' || last_on AS period,
        total_of(count(shares.contract_on) > 0, sum(commission)) AS sold_commission,
        total_of(count(shares.contract_on) > 0, sum(commission_share)) AS homes,
        total_of(count(shares.contract_on) > 0, sum(final_price_part)) AS price
    FROM periods_held
    LEFT JOIN shares
        ON shares.contract_on BETWEEN first_on AND last_on AND shares.contract_on <= until_on - back * INTERVAL 1 YEAR
    GROUP BY place, first_on, last_on
)

SELECT
    summed.period,
    summed.sold_commission,
    now.sold_commission - summed.sold_commission AS difference,
    CASE WHEN summed.sold_commission > 0 THEN (difference / summed.sold_commission)::DECIMAL(18, 4) END
        AS difference_share,
    summed.homes,
    (summed.price / nullif(summed.homes, 0))::DECIMAL(28, 8) AS average_price,
    (100 * summed.sold_commission / nullif(summed.price, 0))::DECIMAL(18, 8) AS sold_commission_percentage,
    (
        SELECT count(*) FROM offices_read
        WHERE getvariable('kind') = 'chain' AND until_on < (SELECT max(until_on) FROM offices_read)
    ) AS offices_read_earlier
FROM summed
LEFT JOIN summed AS now ON now.place = summed.place - 1 AND summed.place IN (2, 4)
ORDER BY summed.place
