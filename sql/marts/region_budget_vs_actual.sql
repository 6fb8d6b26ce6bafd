-- How far is each region from its budgets, and where will its year end?
-- One row per region of the settings, month and measure, over the region's offices with a budget in the year. The row
-- without a region covers all other offices.
-- For the year, read one row per region and measure: the latest month with NOT is_open. Never add up
-- year_to_date_budget, year_budget or year_forecast over months. An actual is null if an office's actual is not known:
-- missing_offices names the office.
-- Kind: view
-- Key: region, month, measure
-- Columns:
--   region: region of the offices in the settings, see marts.offices
SELECT member_id AS region, * EXCLUDE (level, member_id, member_name)
FROM marts.level_budget_vs_actual
WHERE level = 'region'
