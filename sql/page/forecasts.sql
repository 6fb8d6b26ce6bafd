-- How far may the year's forecast be off, and how good were those of earlier years at the same time?
-- One row per page and year with a forecast at the end of the same month as the newest one that is over for every
-- office, the newest first, as in marts.level_budget_vs_actual; with a range if an earlier year is loaded to its end.
-- Declared VAT is deducted.
SELECT
    found.level AS kind,
    coalesce(found.member_id, '') AS scope,
    found.month,
    found.month = newest.month AS is_newest,
    found.year_forecast::DECIMAL(18, 4) AS year_forecast,
    budgets.year_forecast_attainment_share::DOUBLE AS budget_share,
    budgets.office_count AS offices,
    found.year_actual::DECIMAL(18, 4) AS year_actual,
    found.miss_share::DOUBLE AS miss_share,
    found.worst_miss_of_year_share::DOUBLE AS worst_miss_share,
    found.past_year_count AS past_years,
    found.year_forecast_low::DECIMAL(18, 4) AS year_forecast_low,
    found.year_forecast_high::DECIMAL(18, 4) AS year_forecast_high
FROM marts.forecast_accuracy AS found
INNER JOIN marts.chain_month AS newest ON newest.is_last_over AND month(newest.month) = month(found.month)
INNER JOIN marts.level_budget_vs_actual AS budgets
    ON (budgets.level, budgets.month, budgets.measure) = (found.level, found.month, found.measure)
    AND budgets.member_id IS NOT DISTINCT FROM found.member_id
WHERE found.measure = 'commission'
    AND (found.level = 'chain' OR found.member_id IS NOT NULL)
ORDER BY found.level, scope, found.month DESC
