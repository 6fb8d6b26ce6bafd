-- How far is each user from the own budget, and where will the user's year end?
-- One row per user, month and measure, as in marts.budget_vs_actual without its rows of offices.
-- Kind: view
-- Key: user_id, month, measure
-- Columns:
--   user_id: id of the user
SELECT *
FROM marts.budget_vs_actual
WHERE user_id IS NOT NULL
