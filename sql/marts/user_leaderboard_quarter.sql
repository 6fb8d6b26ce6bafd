-- Who earned most in the quarter so far?
-- One row per user and month, with any commission in the quarter up to it.
-- Every row is a sum over months already: look at one month, and never add up rows of several.
-- Cut out of marts.leaderboard, so that nothing else is added up by mistake.
-- Kind: view
-- Key: user_id, month
-- Columns:
--   user_id: id of the user
--   user_name: name of the user; of users with the same name with something behind it that tells them apart
--   office_id: customer id of the user's office in the last month of the period
SELECT
    month,
    earner_id AS user_id,
    earner_name AS user_name,
    * EXCLUDE (earner_kind, period, month, earner_id, earner_name)
FROM marts.leaderboard
WHERE earner_kind = 'user' AND period = 'quarter'
