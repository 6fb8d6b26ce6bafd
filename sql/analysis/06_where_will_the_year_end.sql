-- Which offices will reach their commission budget this year?
-- One row per office, seen from the latest month that is over.
--
-- The forecast assumes that the rest of the budget will be reached as well as the budget so far was.
SELECT
    office_name,
    year_to_date_actual AS commission_so_far,
    round(100 * year_to_date_attainment_share, 1) AS percent_of_budget_so_far,
    year_budget,
    round(year_forecast, 0) AS year_forecast,
    round(100 * year_forecast_attainment_share, 1) AS percent_of_year_budget
FROM marts.budget_vs_actual
WHERE user_id IS NULL
    AND measure = 'commission'
    AND month = (SELECT max(month) FROM marts.budget_vs_actual WHERE NOT is_open)
ORDER BY percent_of_year_budget;
