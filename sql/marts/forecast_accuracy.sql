-- How good were the forecasts of earlier years at the same time of the year, and how far may this year's be off?
-- One row per level, member (office, brand, region or chain), measure and month for which marts.level_budget_vs_actual
-- has a forecast. A closed office has no row after its last month.
-- The range from year_forecast_low to year_forecast_high is year_forecast plus or minus the worst miss: the largest
-- error, over all earlier years, of forecasts made in this calendar month or later in the year.
-- Example: in three earlier years, no forecast made in August or later missed by more than 4 %. If the forecast of this
-- August is 100, the range is 96 to 104.
-- Key: level, member_id, measure, month
-- Columns:
--   level: office, brand, region or chain; never add up two levels
--   member_id: customer id of the office, or the brand or region. Null in two cases: for the chain; for an unknown
--     brand or region
--   member_name: name of the office, brand or region
--   measure: commission, sold estates, registered estates, meetings or own booked meetings
--   month: first day of the month at whose end the forecast is made
--   year_forecast: the forecast total of the whole year, made at the end of this month from current totals and budgets.
--     For its tax basis see basis_note in marts.office_budget_vs_actual
--   year_actual: the total of the whole year. Null in two cases: the year is not over; a month of it is not known
--   year_forecast_then: what the forecast would have been with today's budgets and the totals that were known seven
--     days after the month's end (marts.month_total_versions). Null in three cases: a total of the year so far was not
--     known by then; today's total of the year so far is 0; the measure is neither commission nor sold estates
--   miss_share: year_actual less year_forecast_then, as a share of the forecast: -0.02 if the year ended 2 % below it.
--     Where year_forecast_then is null, year_forecast is used. That forecast already contains later corrections, so
--     this can understate the real miss
--   worst_miss_of_year_share: the largest miss_share, without its sign, of this month and the later months of the year
--   past_year_count: number of earlier years that have a miss_share for this calendar month
--   worst_miss_share: the largest worst_miss_of_year_share of this calendar month in the earlier years
--   year_forecast_low: year_forecast less worst_miss_share of it, or the amount reached so far if that is more. Null if
--     past_year_count is below three
--   year_forecast_high: year_forecast plus worst_miss_share of it. Null if past_year_count is below three
WITH forecasts AS (
    SELECT
        level, member_id, member_name, measure, month, year_forecast, year_to_date_actual,
        max(year_to_date_actual) FILTER (month(month) = 12 AND NOT is_open) OVER (
            PARTITION BY level, member_id, measure, year(month)
        ) AS year_actual
    FROM marts.level_budget_vs_actual
),

-- then_share (of totals_then) is the ratio of the earlier totals to today's. We scale year_forecast by it. This is
-- exact for an office whose forecast is all extrapolation, and an approximation for a sum of offices.
readings AS (
    SELECT
        moments.month AS seen_from,
        versions.office_id,
        versions.valid_to_utc IS NULL AS is_now,
        versions.valid_from_utc <= moments.moment AND coalesce(versions.valid_to_utc > moments.moment, true) AND NOT versions.is_open
            AS is_then,
        unnest([
            {'measure': 'commission', 'amount': versions.commission},
            {'measure': 'sold estates', 'amount': versions.estate_parts}
        ], recursive := true)
    FROM (SELECT DISTINCT month, month + INTERVAL 1 MONTH + INTERVAL 7 DAY AS moment FROM forecasts) AS moments
    INNER JOIN marts.month_total_versions AS versions ON versions.month BETWEEN date_trunc('year', moments.month) AND moments.month
    WHERE versions.report = 'commission_office'
),

totals_then AS (
    SELECT
        levels.level,
        levels.member_id,
        readings.seen_from AS month,
        readings.measure,
        sum(readings.amount) FILTER (readings.is_then) / nullif(sum(readings.amount) FILTER (readings.is_now), 0) AS then_share,
        count(*) FILTER (readings.is_then) = count(*) FILTER (readings.is_now) AS is_known
    FROM readings
    INNER JOIN marts.office_levels AS levels ON levels.office_id = readings.office_id
    GROUP BY levels.level, levels.member_id, readings.seen_from, readings.measure
),

forecast_misses AS (
    SELECT
        forecasts.*,
        CASE WHEN totals_then.is_known THEN forecasts.year_forecast * totals_then.then_share END AS year_forecast_then,
        coalesce(year_forecast_then, forecasts.year_forecast) AS judged_forecast,
        (year_actual - judged_forecast) / nullif(judged_forecast, 0) AS miss_share,
        max(abs(miss_share)) OVER (
            PARTITION BY forecasts.level, forecasts.member_id, forecasts.measure, year(forecasts.month) ORDER BY forecasts.month ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        ) AS worst_miss_of_year_share
    FROM forecasts
    LEFT JOIN totals_then
        ON (totals_then.level, totals_then.month, totals_then.measure) = (forecasts.level, forecasts.month, forecasts.measure)
        AND totals_then.member_id IS NOT DISTINCT FROM forecasts.member_id
    WHERE forecasts.year_forecast IS NOT NULL
),

compared AS (
    SELECT
        *,
        count(miss_share) OVER earlier AS past_year_count,
        max(worst_miss_of_year_share) OVER earlier AS worst_miss_share
    FROM forecast_misses
    WINDOW earlier AS (
        PARTITION BY level, member_id, measure, month(month) ORDER BY month ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)

SELECT
    level,
    member_id,
    member_name,
    measure,
    month,
    year_forecast,
    year_forecast_then::DECIMAL(18, 4) AS year_forecast_then,
    year_actual::DECIMAL(18, 4) AS year_actual,
    miss_share::DECIMAL(19, 8) AS miss_share,
    worst_miss_of_year_share::DECIMAL(19, 8) AS worst_miss_of_year_share,
    past_year_count,
    worst_miss_share::DECIMAL(19, 8) AS worst_miss_share,
    CASE WHEN past_year_count >= 3 THEN greatest(year_forecast * (1 - worst_miss_share), year_to_date_actual) END::DECIMAL(18, 4)
        AS year_forecast_low,
    CASE WHEN past_year_count >= 3 THEN year_forecast * (1 + worst_miss_share) END::DECIMAL(18, 4) AS year_forecast_high
FROM compared
ANTI JOIN marts.dim_office AS closed
    ON compared.level = 'office' AND closed.office_id = compared.member_id AND closed.closed_after_month < compared.month
ORDER BY level, member_id, measure, month
