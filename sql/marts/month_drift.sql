-- By how much do months that are over usually change afterwards, by how many weeks old they are?
-- One row per measure and age in weeks at which months of offices were seen, and a week later again.
-- From the totals of the office report as they were read (marts.month_total_versions): of all months of offices known at this
-- age and a week later, what their sum changed by in that week. The weeks are put together to what a month of this age has
-- still before it (the chain ladder of insurers), so that young months help as well. An age is counted from the end of the month
-- to its second day. A month read for the first time when it was older says nothing of younger ages, and where nothing was read
-- for a week the weeks before it end there: see until_age_weeks. It is a custom and no promise; mind least_month_count.
-- Key: measure, age_weeks
-- Columns:
--   measure: commission, sold_total_price or sold_estate_parts, as in marts.office_month
--   age_weeks: whole weeks since the month was over
--   week_change_share: what these months changed by in the week that follows, -0.01 for one percent less
--   month_count: months of the calendar that this rests on
--   office_month_count: months of offices that this rests on
--   remaining_change_share: what a month of this age usually changes by until until_age_weeks
--   until_age_weeks: the age to which months were seen without a week in between
--   least_month_count: the fewest months of the calendar that any of these weeks rests on
WITH totals AS (
    SELECT
        versions.office_id,
        versions.month,
        versions.valid_from_utc,
        coalesce(versions.valid_to_utc, sources.fetched_at_utc) AS valid_to_utc,
        unnest([
            {'measure': 'commission', 'amount': versions.commission},
            {'measure': 'sold_total_price', 'amount': versions.price},
            {'measure': 'sold_estate_parts', 'amount': versions.estate_parts}
        ], recursive := true)
    FROM marts.month_total_versions AS versions
    LEFT JOIN marts.office_sources AS sources
        ON sources.report = versions.report AND sources.office_id = versions.office_id AND sources.month = versions.month
    WHERE versions.report = 'commission_office' AND NOT versions.is_open
),

seen AS (
    SELECT totals.office_id, totals.month, totals.measure, totals.amount, ages.age_weeks
    FROM totals
    INNER JOIN (SELECT unnest(range(0, 53)) AS age_weeks) AS ages
        ON totals.month + INTERVAL 1 MONTH + to_days(7 * ages.age_weeks::INT + 1) BETWEEN totals.valid_from_utc AND totals.valid_to_utc
    QUALIFY row_number() OVER (
        PARTITION BY totals.office_id, totals.month, totals.measure, ages.age_weeks ORDER BY totals.valid_from_utc DESC
    ) = 1
),

weeks AS (
    SELECT
        now.measure,
        now.age_weeks,
        sum(later.amount) / nullif(sum(now.amount), 0) AS factor,
        count(DISTINCT now.month) AS month_count,
        count(*) AS office_month_count
    FROM seen AS now
    INNER JOIN seen AS later
        ON later.office_id = now.office_id
        AND later.month = now.month
        AND later.measure = now.measure
        AND later.age_weeks = now.age_weeks + 1
    WHERE now.amount IS NOT NULL AND later.amount IS NOT NULL
    GROUP BY ALL
    HAVING factor > 0
),

unbroken AS (
    SELECT *, age_weeks - row_number() OVER (PARTITION BY measure ORDER BY age_weeks) AS stretch
    FROM weeks
)

SELECT
    measure,
    age_weeks,
    (factor - 1)::DECIMAL(19, 8) AS week_change_share,
    month_count,
    office_month_count,
    (exp(sum(ln(factor)) OVER later) - 1)::DECIMAL(19, 8) AS remaining_change_share,
    max(age_weeks) OVER (PARTITION BY measure, stretch) + 1 AS until_age_weeks,
    min(month_count) OVER later AS least_month_count
FROM unbroken
WINDOW later AS (
    PARTITION BY measure, stretch ORDER BY age_weeks ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
)
ORDER BY measure, age_weeks
