-- What was each office to reach in a month, and what did it reach?
-- One row per office, month and measure; budgets of users are within those of their office.
SELECT month, office_id, measure, budget, actual, year_budget, year_forecast
FROM marts.budget_vs_actual
WHERE user_id IS NULL AND measure IN ('commission', 'sold estates')
ORDER BY office_id, month
