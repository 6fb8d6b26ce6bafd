-- By how much does a month as fresh as the newest one usually change still?
-- One row where marts.month_drift knows months of its age, and of it on how many months it rests.
SELECT
    newest.month,
    drift.remaining_change_share::DOUBLE AS change,
    drift.until_age_weeks AS until_weeks,
    drift.least_month_count AS months
FROM marts.chain_month AS newest
INNER JOIN marts.month_drift AS drift
    ON drift.measure = 'commission'
    AND drift.age_weeks = datediff(
        'day',
        (newest.month + INTERVAL 1 MONTH + INTERVAL 1 DAY)::DATE,
        (SELECT max(at_utc)::DATE FROM meta.publications WHERE status = 'published')
    ) // 7
WHERE newest.is_last_over AND abs(drift.remaining_change_share) >= 0.001
