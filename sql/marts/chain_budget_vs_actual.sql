-- How far is the whole chain from its budgets, and where will its year end?
-- One row per month and measure, over all offices with a budget in the year.
-- For the year, read one row per measure: the latest month with NOT is_open. Never add up year_to_date_budget,
-- year_budget or year_forecast over months. An actual is null if an office's actual is not known: missing_offices names
-- the office.
-- Kind: view
-- Key: month, measure
SELECT * EXCLUDE (level, member_id, member_name)
FROM marts.level_budget_vs_actual
WHERE level = 'chain'
