-- By how much have months that were as fresh as the newest one is changed since?
-- One row where marts.month_drift knows months of its age, as it was read: what three of the chain's or more have changed by.
SELECT
    newest.month,
    drift.change_share::DOUBLE AS change,
    drift.least_change_share::DOUBLE AS least,
    drift.greatest_change_share::DOUBLE AS greatest,
    drift.month_count AS months
FROM marts.chain_month AS newest
INNER JOIN (
    SELECT month, max(read_at_utc)::DATE AS read_on
    FROM marts.office_month
    GROUP BY ALL
) AS readings USING (month)
INNER JOIN marts.month_drift AS drift
    ON drift.measure = 'commission'
    AND drift.age_weeks = date_diff('day', newest.month + INTERVAL 1 MONTH, readings.read_on) // 7
WHERE newest.is_last_over AND abs(drift.change_share) >= 0.001
