-- How much did earlier months change after they were as recent as the newest one is now?
-- One row, and no row in two cases: marts.month_drift lacks that age; or the median change is below 0.1 percent.
SELECT
    newest.month,
    drift.change_share::DOUBLE AS change,
    drift.least_change_share::DOUBLE AS least,
    drift.greatest_change_share::DOUBLE AS greatest,
    drift.month_count AS months
FROM marts.chain_month AS newest
INNER JOIN marts.month_drift AS drift ON drift.measure = 'commission' AND drift.age_weeks = (
    SELECT date_diff('day', newest.month + INTERVAL 1 MONTH, local_day(max(read_at_utc))) // 7
    FROM marts.office_month
    WHERE month = newest.month
)
WHERE newest.is_last_over AND abs(drift.change_share) >= 0.001
