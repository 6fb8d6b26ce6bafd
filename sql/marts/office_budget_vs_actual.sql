-- How far is each office from its budget, and where will its year end?
-- One row per office, month and measure, as in marts.budget_vs_actual without its rows of users.
-- Kind: view
-- Key: office_id, month, measure
-- Columns:
--   office_id: customer id of the office
--   office_name: name of the office
SELECT * EXCLUDE (user_id, user_name)
FROM marts.budget_vs_actual
WHERE user_id IS NULL
