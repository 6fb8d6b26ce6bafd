-- How far may the forecast of the year be off?
-- One row per page: the forecast of marts.level_budget_vs_actual at the end of the newest month that is over for
-- every office. It has a range if the forecasts of three earlier years can be compared with how the years ended.
-- Declared VAT is deducted.
SELECT
    accuracy.level AS kind,
    coalesce(accuracy.member_id, '') AS scope,
    accuracy.year_forecast::DECIMAL(18, 4) AS year_forecast,
    budgets.year_forecast_attainment_share::DOUBLE AS budget_share,
    budgets.office_count AS offices,
    accuracy.past_year_count AS past_years,
    accuracy.year_forecast_low::DECIMAL(18, 4) AS year_forecast_low,
    accuracy.year_forecast_high::DECIMAL(18, 4) AS year_forecast_high
FROM marts.forecast_accuracy AS accuracy
INNER JOIN marts.chain_month AS newest ON newest.is_last_over AND newest.month = accuracy.month
INNER JOIN marts.level_budget_vs_actual AS budgets
    ON (budgets.level, budgets.month, budgets.measure) = (accuracy.level, accuracy.month, accuracy.measure)
    AND budgets.member_id IS NOT DISTINCT FROM accuracy.member_id
WHERE accuracy.measure = 'commission'
    AND (accuracy.level = 'chain' OR accuracy.member_id IS NOT NULL)
ORDER BY accuracy.level, scope
