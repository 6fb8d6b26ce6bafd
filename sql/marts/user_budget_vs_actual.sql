-- How far is each user from their budget, and where will their year end?
-- One row per user, month and measure.
-- For the year, read one row per user and measure: the latest month with NOT is_open. Never add up
-- year_to_date_budget, year_budget or year_forecast over months. Add up budget and actual only if NOT is_open.
-- Key: user_id, month, measure
-- Columns:
--   user_id: id of the user
--   office_name: name of the office
SELECT *
FROM staging.budget_vs_actual
WHERE user_id IS NOT NULL
