-- Which offices make up the chain's number, or which agents the office's, compared with the same month a year before?
-- One row per office of marts.office_month or agent of marts.user_office_month, the largest difference first. At a second
-- office, an agent has only the measures of that mart.
-- The year before is null while this year's month is not over. It is also null if its month is not loaded to its end,
-- unless the office or agent had not begun then.
-- left_after_month is the last month of an agent who left, or of an office that closed.
-- Parameters: kind, id, month, measure, report
WITH lines AS (
    SELECT *, office_id AS id, office_name AS name, to_json(line) AS numbers, closed_after_month AS left_after_month
    FROM marts.office_month AS line
    WHERE getvariable('kind') = 'chain'
    UNION ALL BY NAME
    SELECT
        line.* REPLACE (placed.commission AS commission, placed.sold_estate_parts AS sold_estate_parts),
        line.user_id AS id,
        line.user_label AS name,
        json_merge_patch(
            CASE WHEN placed.is_main_office THEN to_json(line) ELSE '{}' END,
            json_object('active_agent_count', line.is_active::INT, 'commission', placed.commission, 'sold_estate_parts', placed.sold_estate_parts)
        ) AS numbers,
        nullif(line.first_active_month, (SELECT min(month) FROM marts.user_month)) AS began_month,
        users.left_after_month
    FROM marts.user_month AS line
    INNER JOIN marts.user_office_month AS placed USING (user_id, month)
    LEFT JOIN marts.users AS users USING (user_id)
    WHERE getvariable('kind') = 'office' AND placed.office_id = getvariable('id')
),

lines_measured AS (
    SELECT
        *,
        (numbers ->> getvariable('measure')::VARCHAR)::DECIMAL(28, 8) AS number,
        (getvariable('month')::DATE - INTERVAL 1 YEAR)::DATE AS month_before,
        month = getvariable('month')::DATE AS is_now,
        month = month_before AND (is_commission_complete OR NOT is_of_commissions()) AS is_before
    FROM lines
),

summed AS (
    SELECT
        arg_max(name, month) AS name,
        sum(number) FILTER (is_now) AS number,
        CASE
            WHEN (count(number) FILTER (is_before) > 0 OR any_value(began_month) > any_value(month_before))
                AND NOT bool_or(is_open) FILTER (is_now)
                THEN coalesce(sum(number) FILTER (is_before), 0)
        END AS year_before,
        sum(sold_estate_parts) FILTER (is_now) AS homes,
        any_value(began_month) FILTER (began_month > month_before) AS began_month,
        any_value(left_after_month) AS left_after_month,
        id
    FROM lines_measured
    GROUP BY id
    HAVING bool_or(number IS NOT NULL AND (is_now OR is_before) AND (getvariable('kind') = 'chain' OR is_active OR commission <> 0))
)

SELECT * EXCLUDE (id), number - year_before AS difference, id
FROM summed
ORDER BY abs(difference) DESC NULLS LAST, number DESC NULLS LAST, name, id
