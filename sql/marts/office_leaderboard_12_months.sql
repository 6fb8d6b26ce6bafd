-- Which offices earned most in the last twelve months?
-- One row per office and month, with any commission in the twelve months that end with it.
-- Every row is a sum over months already: look at one month, and never add up rows of several.
-- Cut out of marts.leaderboard, so that nothing else is added up by mistake.
-- Kind: view
-- Key: office_id, month
-- Columns:
--   office_id: customer id of the office
--   office_name: name of the office
SELECT
    month,
    office_id,
    office_name,
    * EXCLUDE (
        earner_kind, period, month, earner_id, earner_name, office_id, office_name,
        active_month_count, commission_per_active_month, per_active_month_rank
    )
FROM marts.leaderboard
WHERE earner_kind = 'office' AND period = 'twelve months'
