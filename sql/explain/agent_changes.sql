-- Whose commission changed after the months were over, and what of it came from no sale?
-- One row per month, day and agent whose commission changed then.
-- Parameters: office, user, first_month, month
WITH restated AS (
    SELECT DISTINCT month
    FROM marts.office_restatements
    WHERE office_id = getvariable('office')
),

versions_compared AS (
    SELECT
        user_id,
        month,
        valid_from_utc,
        is_restatement,
        commission - lag(commission) OVER versions AS commission_change,
        sold_commission - lag(sold_commission) OVER versions AS sold_change
    FROM marts.user_month_versions
    WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    WINDOW versions AS (PARTITION BY user_id, month ORDER BY version)
)

SELECT
    versions.month,
    versions.valid_from_utc AS noted_at_utc,
    users.user_label,
    versions.commission_change,
    versions.commission_change - versions.sold_change AS unsold_change
FROM versions_compared AS versions
INNER JOIN marts.user_month AS users USING (user_id, month)
LEFT JOIN restated ON restated.month = versions.month
WHERE versions.is_restatement
    AND (
        users.user_id = getvariable('user')
        OR (users.office_id = getvariable('office') AND restated.month IS NOT NULL)
    )
    AND (abs(versions.commission_change) >= 1 OR abs(versions.commission_change - versions.sold_change) >= 1)
ORDER BY versions.month, noted_at_utc, versions.commission_change, users.user_label
