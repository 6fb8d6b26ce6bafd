-- Which users have left all directories?
-- One row per user that a directory had, and none has now.
-- Columns:
--   user_id: id of the user
--   left_on: day on which the last directory that had the user was first read without the user
SELECT
    id AS user_id,
    local_day(max(valid_to_utc)) AS left_on
FROM bi.users_history
WHERE id IS NOT NULL
GROUP BY id
HAVING count(*) = count(valid_to_utc)
