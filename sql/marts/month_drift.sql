-- By how much did the totals of months still change, by the age of the month in weeks?
-- One row per measure and age in weeks. An age has a row if at least three months were read at that age, and read again
-- at least four weeks later.
-- For each month and week of its age, two sums are compared: the totals of the office report at the last reading in
-- that week, and the totals now (marts.month_total_versions). Both are over the offices that were read in that week. A
-- month does not count in weeks without a reading.
-- The figures describe past months of the whole chain: they promise nothing, and hold for no single office.
-- Example: change_share is -0.01 at age_weeks 4. Half of the months have lost one percent or more since they were four
-- weeks old.
-- Key: measure, age_weeks
-- Columns:
--   measure: commission, sold_total_price or sold_estate_parts, as in marts.office_month
--   age_weeks: whole weeks since the month was over, 0 in the first one
--   change_share: the median change of the months from this age until now, -0.01 for one percent less; each month is
--     the sum of its offices
--   least_change_share: the change of the month that rose least or fell most
--   greatest_change_share: the change of the month that rose most or fell least
--   month_count: number of calendar months that the row rests on; never fewer than three
--   office_month_count: number of months of single offices that the row rests on
--   least_weeks_later: the fewest whole weeks from a reading at this age to the last reading
WITH versions AS (
    SELECT
        versions.*,
        coalesce(readings.read_at_utc, versions.valid_from_utc) AS read_at_utc
    FROM marts.month_total_versions AS versions
    LEFT JOIN staging.readings AS readings
        ON readings.report = versions.report AND readings.load_id = versions._load_id AND readings.month = versions.month
    WHERE versions.report = 'commission_office'
    QUALIFY row_number() OVER (
        PARTITION BY versions.office_id, versions.month, coalesce(readings.read_at_utc, versions.valid_from_utc)
        ORDER BY versions.version DESC
    ) = 1
),

readings AS (
    SELECT DISTINCT customers.office_id, readings.month, readings.read_at_utc
    FROM staging.readings AS readings
    INNER JOIN (SELECT DISTINCT office_id, month, _customer AS customer_id FROM versions) AS customers USING (customer_id, month)
    WHERE readings.report = 'commission_office' AND readings.is_loaded
),

weeks AS (
    SELECT
        readings.office_id,
        readings.month,
        greatest(
            date_diff('day', readings.month + INTERVAL 1 MONTH, local_day(readings.read_at_utc)), 0
        ) // 7 AS age_weeks,
        max(readings.read_at_utc) AS read_at_utc
    FROM readings
    GROUP BY ALL
),

changed AS (
    SELECT
        weeks.month,
        weeks.age_weeks,
        unnest([
            {'measure': 'commission', 'amount': earlier.commission, 'amount_now': latest.commission},
            {'measure': 'sold_total_price', 'amount': earlier.price, 'amount_now': latest.price},
            {'measure': 'sold_estate_parts', 'amount': earlier.estate_parts, 'amount_now': latest.estate_parts}
        ], recursive := true),
        date_diff('day', weeks.read_at_utc, last_readings.read_at_utc) // 7 AS weeks_later
    FROM weeks
    ASOF INNER JOIN versions AS earlier
        ON earlier.office_id = weeks.office_id AND earlier.month = weeks.month AND weeks.read_at_utc >= earlier.read_at_utc
    INNER JOIN (
        SELECT office_id, month, max(read_at_utc) AS read_at_utc FROM readings GROUP BY ALL
    ) AS last_readings
        ON last_readings.office_id = weeks.office_id AND last_readings.month = weeks.month
    INNER JOIN versions AS latest
        ON latest.office_id = weeks.office_id AND latest.month = weeks.month AND latest.valid_to_utc IS NULL
    WHERE NOT earlier.is_open
),

changes_by_month AS (
    SELECT
        measure,
        age_weeks,
        month,
        sum(amount_now) / nullif(sum(amount), 0) - 1 AS change_share,
        count(*) AS office_count,
        min(weeks_later) AS weeks_later
    FROM changed
    WHERE weeks_later >= 4 AND amount IS NOT NULL AND amount_now IS NOT NULL
    GROUP BY ALL
    HAVING sum(amount) > 0
)

SELECT
    measure,
    age_weeks,
    median(change_share)::DECIMAL(19, 8) AS change_share,
    min(change_share)::DECIMAL(19, 8) AS least_change_share,
    max(change_share)::DECIMAL(19, 8) AS greatest_change_share,
    count(*) AS month_count,
    sum(office_count)::BIGINT AS office_month_count,
    min(weeks_later) AS least_weeks_later
FROM changes_by_month
GROUP BY ALL
HAVING month_count >= 3
ORDER BY measure, age_weeks
