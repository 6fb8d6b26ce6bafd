-- What is the number, and what is it made of, beside earlier periods?
-- One row per period: the month or months asked for, the month before, the same a year before, the year to date, and
-- that of the year before; but for the first only those of which every month since began_month is held and was read to
-- its end. A difference is what the number is more than this one; no share is said of what began meanwhile or has closed. What is not
-- over is compared in same_days.sql alone.
-- Parameters: kind, id, first_month, month, measure, report
WITH lines AS (
    SELECT *, to_json(line) AS numbers
    FROM marts.office_month AS line
    WHERE getvariable('kind') = 'office' AND office_id = getvariable('id')
    UNION ALL BY NAME
    SELECT
        *, to_json(line) AS numbers,
        nullif(first_active_month, (SELECT min(month) FROM marts.user_month)) AS began_month
    FROM marts.user_month AS line
    WHERE getvariable('kind') = 'user' AND user_id = getvariable('id')
    UNION ALL BY NAME
    SELECT *, to_json(line) AS numbers FROM marts.chain_month AS line WHERE getvariable('kind') = 'chain'
),

periods AS (
    SELECT
        place,
        base,
        asked.began_month,
        asked.closed_after_month,
        (CASE WHEN place > 3 THEN date_trunc('year', month) ELSE first_month END - back * INTERVAL 1 MONTH)::DATE
            AS first_month,
        (month - back * INTERVAL 1 MONTH)::DATE AS month
    FROM (
        SELECT *, getvariable('first_month')::DATE AS first_month
        FROM lines
        WHERE month = getvariable('month')::DATE
    ) AS asked
    CROSS JOIN (VALUES (1, NULL, 0), (2, 1, 1), (3, 1, 12), (4, NULL, 0), (5, 4, 12)) AS known (place, base, back)
    WHERE place = 1
        OR (NOT is_open AND (place = 3 OR (first_month = month AND (place = 2 OR month(month) > 1))))
),

summed AS (
    SELECT
        place,
        base,
        months_of(periods.first_month, periods.month) AS period,
        CASE WHEN periods.began_month > periods.first_month THEN periods.began_month END AS began_month,
        CASE WHEN periods.closed_after_month < getvariable('month')::DATE THEN periods.closed_after_month END AS closed_after_month,
        bool_or(is_open) AS is_open,
        count(*) = datediff('month', greatest(periods.began_month, periods.first_month), periods.month) + 1 AS is_held,
        is_held AND count(number) = count(*)
        AND (count(*) = 1 OR NOT regexp_matches(getvariable('measure'), 'average|percentage|active_agent')) AS is_known,
        is_known AND (bool_and(is_commission_complete) OR NOT is_of_commissions()) AS is_whole,
        CASE WHEN is_known THEN sum(number) END AS number,
        CASE
            WHEN is_held AND is_of_commissions()
                AND count(COLUMNS('_parts$|^sold_commission$|_total_price$')) = count(*)
                THEN sum(COLUMNS('_parts$|^sold_commission$|_total_price$'))
        END
    FROM periods
    INNER JOIN (SELECT *, (numbers ->> getvariable('measure')::VARCHAR)::DECIMAL(28, 8) AS number FROM lines) AS known
        ON known.month BETWEEN greatest(periods.began_month, periods.first_month) AND periods.month
    GROUP BY place, base, periods.began_month, periods.closed_after_month, periods.first_month, periods.month
)

SELECT
    summed.period,
    summed.is_open,
    summed.number,
    CASE WHEN base.is_whole THEN base.number - summed.number END AS difference,
    CASE
        WHEN summed.number > 0 AND summed.began_month IS NULL AND summed.closed_after_month IS NULL
            THEN (difference / summed.number)::DECIMAL(18, 4)
    END AS difference_share,
    summed.sold_estate_parts AS homes,
    (summed.sold_total_price / nullif(homes, 0))::DECIMAL(28, 8) AS average_price,
    (100 * summed.sold_commission / nullif(summed.sold_total_price, 0))::DECIMAL(18, 8) AS sold_commission_percentage,
    summed.sold_commission,
    summed.writing_parts AS writings,
    summed.valuation_parts AS valuations,
    summed.began_month,
    summed.closed_after_month
FROM summed
LEFT JOIN summed AS base ON base.place = summed.base
WHERE (summed.is_whole OR summed.place = 1) AND NOT starts_with(getvariable('measure'), 'budget_')
ORDER BY summed.place
