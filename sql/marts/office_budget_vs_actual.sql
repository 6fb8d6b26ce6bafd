-- How far is each office from its budget, and where will its year end?
-- One row per office, month and measure.
-- For the year, read one row per office and measure: the latest month with NOT is_open. Never add up
-- year_to_date_budget, year_budget or year_forecast over months; add up budget and actual only if NOT is_open.
-- If an office's actual is not known, it is null but the budget is not, so a sum over offices would be too low: for the
-- chain take marts.chain_budget_vs_actual, whose actual is null then and whose missing_offices names the office.
-- Key: office_id, month, measure
-- Columns:
--   office_id: customer id of the office
--   office_name: name of the office
SELECT * EXCLUDE (user_id, user_name)
FROM staging.budget_vs_actual
WHERE user_id IS NULL
