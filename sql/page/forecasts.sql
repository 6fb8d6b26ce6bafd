-- How far may the forecast of the year be off?
-- One row per page: the forecast of marts.level_budget_vs_actual at the end of the newest month that is over for
-- every office, with a range if three earlier years are loaded to their end. Declared VAT is deducted.
SELECT
    found.level AS kind,
    coalesce(found.member_id, '') AS scope,
    found.year_forecast::DECIMAL(18, 4) AS year_forecast,
    budgets.year_forecast_attainment_share::DOUBLE AS budget_share,
    budgets.office_count AS offices,
    found.past_year_count AS past_years,
    found.year_forecast_low::DECIMAL(18, 4) AS year_forecast_low,
    found.year_forecast_high::DECIMAL(18, 4) AS year_forecast_high
FROM marts.forecast_accuracy AS found
INNER JOIN marts.chain_month AS newest ON newest.is_last_over AND newest.month = found.month
INNER JOIN marts.level_budget_vs_actual AS budgets
    ON (budgets.level, budgets.month, budgets.measure) = (found.level, found.month, found.measure)
    AND budgets.member_id IS NOT DISTINCT FROM found.member_id
WHERE found.measure = 'commission'
    AND (found.level = 'chain' OR found.member_id IS NOT NULL)
ORDER BY found.level, scope
