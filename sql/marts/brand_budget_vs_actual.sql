-- How far is each brand from its budgets, and where will its year end?
-- One row per brand, month and measure, over the brand's offices with a budget in the year. The row without a brand
-- covers offices whose brand is unknown.
-- For the year, read one row per brand and measure: the latest month with NOT is_open. Never add up
-- year_to_date_budget, year_budget or year_forecast over months. An actual is null if an office's actual is not known:
-- missing_offices names the office.
-- Kind: view
-- Key: brand, month, measure
-- Columns:
--   brand: the trademark that the offices count under, see marts.offices
SELECT member_id AS brand, * EXCLUDE (level, member_id, member_name)
FROM marts.level_budget_vs_actual
WHERE level = 'brand'
