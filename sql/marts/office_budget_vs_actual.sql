-- How far is each office from its budget, and where will its year end?
-- One row per office, month and measure.
-- For the year, read one row per office and measure: the latest month with NOT is_open. Never add up
-- year_to_date_budget, year_budget or year_forecast over months. Add up budget and actual only if NOT is_open.
-- An unknown actual is null while its budget is not, so a sum over offices may look too low: for the chain read
-- marts.chain_budget_vs_actual, which names such offices in missing_offices.
-- Key: office_id, month, measure
-- Columns:
--   office_id: customer id of the office
--   office_name: name of the office
SELECT * EXCLUDE (user_id, user_name)
FROM staging.budget_vs_actual
WHERE user_id IS NULL
