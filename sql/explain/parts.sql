-- Which offices made the number of the chain, or which agents that of the office, beside the same months a year before?
-- One row per office or agent with a row in either period, the largest difference first, and one without id for what is
-- in none of them. Who left, or the office that closed, did so after the month that is named. The year before is null where a month of it since began_month is not known, and while this one is
-- not over.
-- Parameters: kind, id, first_month, month, measure, report
WITH lines AS (
    SELECT *, office_id AS id, office_name AS name, to_json(line) AS numbers, closed_after_month AS left_after_month
    FROM marts.office_month AS line
    WHERE getvariable('kind') = 'chain'
    UNION ALL BY NAME
    SELECT
        *,
        user_id AS id,
        user_label AS name,
        json_merge_patch(to_json(line), json_object('active_agent_count', is_active::INT)) AS numbers,
        nullif(first_active_month, (SELECT min(month) FROM marts.user_month)) AS began_month
    FROM marts.user_month AS line
    WHERE getvariable('kind') = 'office' AND office_id = getvariable('id')
),

lines_measured AS (
    SELECT
        *,
        (numbers ->> getvariable('measure')::VARCHAR)::DECIMAL(28, 8) AS number,
        month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE AS is_now,
        month BETWEEN getvariable('first_month')::DATE - INTERVAL 1 YEAR AND getvariable('month')::DATE - INTERVAL 1 YEAR
        AND (is_commission_complete OR NOT is_of_commissions()) AS is_before,
        CASE WHEN is_of_commissions() THEN sold_estate_parts END AS parts
    FROM lines
),

summed AS (
    SELECT
        id,
        arg_max(name, month) AS name,
        sum(number) FILTER (is_now) AS number,
        CASE
            WHEN count(number) FILTER (is_before) >= greatest(0, datediff(
                'month',
                greatest(any_value(began_month), getvariable('first_month')::DATE - INTERVAL 1 YEAR),
                getvariable('month')::DATE - INTERVAL 11 MONTH
            )) AND NOT bool_or(is_open) FILTER (is_now)
                THEN coalesce(sum(number) FILTER (is_before), 0)
        END AS year_before,
        sum(parts) FILTER (is_now) AS homes,
        CASE WHEN year_before IS NOT NULL THEN sum(parts) FILTER (is_before) END AS homes_year_before,
        any_value(began_month) FILTER (began_month > getvariable('first_month')::DATE - INTERVAL 1 YEAR) AS began_month,
        any_value(left_after_month) AS left_after_month
    FROM lines_measured
    GROUP BY id
    HAVING bool_or(
        number IS NOT NULL AND (is_now OR is_before)
        AND (getvariable('kind') = 'chain' OR is_active OR commission <> 0)
    )
),

whole AS (
    SELECT sum((to_json(line) ->> getvariable('measure')::VARCHAR)::DECIMAL(28, 8)) AS number
    FROM (
        FROM marts.office_month WHERE getvariable('kind') = 'office' AND office_id = getvariable('id')
        UNION ALL BY NAME
        FROM marts.chain_month WHERE getvariable('kind') = 'chain'
    ) AS line
    WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
        AND NOT regexp_matches(getvariable('measure'), 'average|percentage|per_active_agent')
)

SELECT
    summed.* REPLACE (coalesce(summed.left_after_month, CASE WHEN users.has_left THEN users.last_active_month END) AS left_after_month),
    summed.number - summed.year_before AS difference
FROM summed
LEFT JOIN marts.users AS users ON users.user_id = summed.id AND getvariable('kind') = 'office'
UNION ALL BY NAME
SELECT 'in none of them' AS name, whole.number - (SELECT sum(number) FROM summed) AS number
FROM whole
WHERE abs(whole.number - (SELECT sum(number) FROM summed)) >= 1
ORDER BY id IS NULL, abs(difference) DESC NULLS LAST, number DESC NULLS LAST, name, id
