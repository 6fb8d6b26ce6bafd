-- Which users are there?
-- One row per requested customer and user, as the directory has them now.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   user_id: id of the user
--   user_name: name of the user
--   is_refreshed: whether the directory of this customer is still requested; if not, it stays as it was last read
--   read_at_utc: when the service gave the directory
--   landed_row: row of bi.users by its column _row
SELECT
    users._customer AS customer_id,
    users.id AS user_id,
    users.name AS user_name,
    coalesce(customers.is_active, true) AND denials.denied_at_utc IS NULL AS is_refreshed,
    users._fetched_at_utc AS read_at_utc,
    users._row AS landed_row
FROM bi.users AS users
LEFT JOIN meta.customers AS customers ON customers.customer = users._customer
LEFT JOIN meta.access AS denials ON denials.report = 'users' AND denials.customer = users._customer
