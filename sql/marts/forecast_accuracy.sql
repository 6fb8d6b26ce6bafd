-- How good were the forecasts of earlier years at the same time of the year, and how far may this year's be off?
-- One row per level, member, measure and month that is over, with a forecast of the year's end.
-- A forecast is the one of marts.level_budget_vs_actual for that month: what could be said at its end, from what its months and
-- budgets are now; that months changed later is not in it, see marts.month_drift. The range goes as far from the forecast, up
-- and down, as the worst forecast of any earlier year was off in the same month or a later one, and never below what is reached.
-- It rests on past_year_count years: with one or two it says little. Without an earlier year that is held to its end there is no
-- range. An office that has closed is not forecast: it has no row after its last month.
-- Key: level, member_id, measure, month
-- Columns:
--   level: office, brand, region or chain
--   member_id: customer id of the office, or the brand or region; null for the chain, and where brand or region are unknown
--   member_name: its name
--   measure: commission or sold estates
--   month: first day of the month at whose end the forecast is
--   year_forecast: where the year would end, as seen from this month, of months and budgets as they are now; tax basis as actual in marts.budget_vs_actual, see
--     basis_note there
--   year_actual: where the year ended; null while it is not over, or not held to its end
--   miss_share: year_actual less the forecast, in parts of the forecast: -0.02 where the year ended 2 % below it; what was
--     corrected since is in both, so the forecast that was read then may have missed by more
--   past_year_count: earlier years whose forecast of the same month can be compared with how they ended
--   worst_miss_share: the largest miss of these years from the same month on, without its sign
--   year_forecast_low: the forecast less that part of it, or what is reached if that is more
--   year_forecast_high: the forecast and that part of it
WITH forecasts AS (
    SELECT
        level,
        member_id,
        member_name,
        measure,
        month,
        year_forecast,
        year_to_date_actual,
        max(year_to_date_actual) FILTER (month(month) = 12 AND NOT is_open) OVER (
            PARTITION BY level, member_id, measure, year(month)
        ) AS year_actual
    FROM marts.level_budget_vs_actual
),

missed AS (
    SELECT
        *,
        (year_actual - year_forecast) / nullif(year_forecast, 0) AS miss_share,
        max(abs(miss_share)) OVER (
            PARTITION BY level, member_id, measure, year(month) ORDER BY month ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        ) AS worst_of_year
    FROM forecasts
    WHERE year_forecast IS NOT NULL
),

compared AS (
    SELECT
        *,
        count(miss_share) OVER earlier AS past_year_count,
        max(worst_of_year) OVER earlier AS worst_miss_share
    FROM missed
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
    year_actual::DECIMAL(18, 4) AS year_actual,
    miss_share::DECIMAL(19, 8) AS miss_share,
    past_year_count,
    worst_miss_share::DECIMAL(19, 8) AS worst_miss_share,
    greatest(year_forecast * (1 - worst_miss_share), year_to_date_actual + 0 * worst_miss_share)::DECIMAL(18, 4)
        AS year_forecast_low,
    (year_forecast * (1 + worst_miss_share))::DECIMAL(18, 4) AS year_forecast_high
FROM compared
ANTI JOIN marts.dim_office AS closed
    ON compared.level = 'office' AND closed.office_id = compared.member_id AND closed.closed_after_month < compared.month
ORDER BY level, member_id, measure, month
