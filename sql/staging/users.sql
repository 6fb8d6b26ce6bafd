-- Which users are there?
-- One row per customer asked and user, as the directory has them now.
-- Columns:
--   customer_id: the customer that was asked, an office or a group
--   user_id: id of the user
--   user_name: name of the user
SELECT
    _customer AS customer_id,
    id AS user_id,
    name AS user_name
FROM bi.users
