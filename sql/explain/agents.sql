-- Who earned the office's commission, and who did so before?
-- One row per user at work in the month, the month before or a year before, the largest loss first.
-- Parameters: office, month
WITH earned AS (
    SELECT
        user_id,
        any_value(user_label) AS user_label,
        max(last_active_month) AS last_active_month,
        min(first_active_month) AS first_active_month,
        coalesce(bool_or(is_active) FILTER (month = getvariable('month')::DATE), false) AS is_active,
        sum(commission) FILTER (month = getvariable('month')::DATE) AS commission,
        sum(commission) FILTER (month = getvariable('month')::DATE - INTERVAL 1 MONTH) AS month_before,
        sum(commission) FILTER (month = getvariable('month')::DATE - INTERVAL 1 YEAR) AS year_before
    FROM marts.user_month
    WHERE office_id = getvariable('office')
        AND (is_active OR commission <> 0)
        AND month IN (
            getvariable('month')::DATE,
            getvariable('month')::DATE - INTERVAL 1 MONTH,
            getvariable('month')::DATE - INTERVAL 1 YEAR
        )
    GROUP BY user_id
)

SELECT
    * EXCLUDE (first_active_month, last_active_month),
    CASE
        WHEN last_active_month < getvariable('month')::DATE
            THEN 'no trace since ' || strftime(last_active_month, '%Y-%m')
        WHEN NOT is_active THEN 'at another office'
        WHEN first_active_month = getvariable('month')::DATE THEN 'new'
    END AS remark
FROM earned
ORDER BY coalesce(commission, 0) - coalesce(month_before, 0), user_label
