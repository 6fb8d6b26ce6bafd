-- Which agents are there, of which office, and since when?
-- One row per user: the rows of marts.users, as a dimension of marts.agent_month, user_month and agent_trends.
-- The office is the user's latest one. The office of a month is in the fact table.
-- Kind: view
-- Key: user_id
-- Columns:
--   latest_office_id: customer id of the user's office in the latest month of marts.user_month
--   latest_office_name: name of the user's office in the latest month of marts.user_month
SELECT
    user_id,
    user_label,
    office_id AS latest_office_id,
    office_name AS latest_office_name,
    first_active_month,
    last_active_month,
    has_left,
    left_after_month,
    left_on,
    is_left_day_known
FROM marts.users
