-- Who earned the office's commission, and who did so before?
-- One row per user at work in the months, the month before or a year before, the largest loss first: since the month
-- before, or of several months since the same ones a year before.
-- Parameters: office, first_month, month
WITH placed AS (
    SELECT
        *,
        month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE AS is_now,
        getvariable('first_month')::DATE = getvariable('month')::DATE
            AND month = getvariable('month')::DATE - INTERVAL 1 MONTH AS is_month_before,
        month BETWEEN getvariable('first_month')::DATE - INTERVAL 1 YEAR
            AND getvariable('month')::DATE - INTERVAL 1 YEAR AS is_year_before
    FROM marts.user_month
    WHERE office_id = getvariable('office') AND (is_active OR commission <> 0)
),

earned AS (
    SELECT
        user_id,
        any_value(user_label) AS user_label,
        max(last_active_month) AS last_active_month,
        min(first_active_month) AS first_active_month,
        min(month) FILTER (is_active) AS first_month_here,
        coalesce(bool_or(is_active) FILTER (is_now), false) AS is_active,
        sum(commission) FILTER (is_now) AS commission,
        sum(commission) FILTER (is_month_before) AS month_before,
        sum(commission) FILTER (is_year_before) AS year_before,
        sum(sold_estate_parts) FILTER (is_now) AS homes,
        sum(sold_estate_parts) FILTER (is_year_before) AS homes_year_before,
        sum(commission - sold_commission) FILTER (is_now) AS unsold_commission,
        sum(writing_parts) FILTER (is_now) AS writing_parts,
        sum(valuation_parts) FILTER (is_now) AS valuation_parts
    FROM placed
    GROUP BY user_id
    HAVING bool_or(is_now OR is_month_before OR is_year_before)
)

SELECT
    earned.* EXCLUDE (first_active_month, first_month_here, last_active_month),
    nullif(
        concat_ws(
            ', ',
            CASE
                WHEN earned.last_active_month < getvariable('month')::DATE
                    THEN 'last seen in ' || strftime(earned.last_active_month, '%Y-%m')
                WHEN NOT is_active THEN 'at another office'
                WHEN earned.first_active_month = getvariable('month')::DATE THEN 'new'
                WHEN earned.first_active_month >= getvariable('first_month')::DATE
                    THEN 'new in ' || strftime(earned.first_active_month, '%Y-%m')
                WHEN first_month_here > greatest(
                    getvariable('first_month')::DATE - INTERVAL 1 YEAR, (SELECT min(month) FROM placed)
                )
                    THEN 'active here since ' || strftime(first_month_here, '%Y-%m')
            END,
            'has left, in no directory since ' || strftime(users.left_directory_on, '%Y-%m-%d')
        ),
        ''
    ) AS remark
FROM earned
LEFT JOIN marts.users AS users USING (user_id)
ORDER BY
    CASE
        WHEN getvariable('first_month')::DATE = getvariable('month')::DATE
            THEN coalesce(commission, 0) - coalesce(month_before, 0)
        ELSE coalesce(commission, 0) - coalesce(year_before, 0)
    END,
    earned.user_label
