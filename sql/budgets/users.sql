-- Which users are known, and what are they called?
-- One row per user.
-- Columns:
--   user_id: id of the user
--   user_name: name of the user
SELECT user_id, user_name
FROM marts.users
ORDER BY user_id
