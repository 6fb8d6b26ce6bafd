-- Which offices made the chain's number, and its change since the month before and the same months a year before?
-- One row per office in one of these months, the largest change since the year before first, up or down. A number is null
-- where none of its months is held; remark says since when or until when the office is held, and when it began if that was after
-- the first month of the year before that is compared.
-- Parameters: first_month, month, measure, report
WITH lines AS (
    SELECT
        *,
        (to_json(line) ->> getvariable('measure')::VARCHAR)::DECIMAL(28, 8) AS number,
        month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE AS is_now,
        getvariable('first_month')::DATE = getvariable('month')::DATE
            AND month = getvariable('month')::DATE - INTERVAL 1 MONTH AS is_month_before,
        month BETWEEN getvariable('first_month')::DATE - INTERVAL 1 YEAR
            AND getvariable('month')::DATE - INTERVAL 1 YEAR AS is_year_before
    FROM marts.office_month AS line
),

summed AS (
    SELECT
        office_id,
        any_value(office_name) AS office_name,
        sum(number) FILTER (is_now) AS number,
        sum(number) FILTER (is_month_before) AS month_before,
        sum(number) FILTER (is_year_before) AS year_before,
        sum(sold_estate_parts) FILTER (is_now) AS homes,
        sum(sold_estate_parts) FILTER (is_year_before) AS homes_year_before,
        count(number) FILTER (is_now) AS months_now,
        count(number) FILTER (is_year_before) AS months_year_before,
        coalesce(bool_and(is_commission_complete) FILTER (is_now), true) AS is_complete,
        any_value(began_month) AS began_month,
        min(month) FILTER (number IS NOT NULL) AS first_month,
        max(month) FILTER (number IS NOT NULL) AS last_month
    FROM lines
    GROUP BY office_id
    HAVING count(number) FILTER (is_now OR is_month_before OR is_year_before) > 0
)

SELECT
    * EXCLUDE (months_now, months_year_before, is_complete, began_month, first_month, last_month),
    CASE
        WHEN last_month < getvariable('month')::DATE THEN 'last held in ' || strftime(last_month, '%Y-%m')
        WHEN NOT is_complete AND getvariable('report') = 'commission_office' THEN 'not read to its end'
        WHEN months_now > months_year_before AND first_month > (SELECT min(month) FROM lines)
            THEN 'first held in ' || strftime(first_month, '%Y-%m')
        WHEN began_month > getvariable('first_month')::DATE - INTERVAL 1 YEAR
            THEN 'active since ' || strftime(began_month, '%Y-%m')
    END AS remark
FROM summed
ORDER BY abs(coalesce(number, 0) - coalesce(year_before, 0)) DESC, office_name, office_id
