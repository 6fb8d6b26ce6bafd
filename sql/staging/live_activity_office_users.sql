-- What did users do in a month, where live activity lists them below their offices?
-- One row per customer asked, user, month and number in the row of the user.
-- The other shape that is assumed of the report: see live_activity_users.
-- Columns: as live_activity_users
-- Expects:
--   bi.live_activity__offices: customer_id
--   bi.live_activity__offices__users: id
SELECT
    given._customer AS customer_id,
    offices.customer_id AS office_id,
    given.id AS user_id,
    given._month AS month,
    given._load_id AS load_id,
    given.measure,
    given.amount
FROM (
    SELECT _parent_row, id, _customer, _month, _load_id, unnest(counted_in(_said), recursive := true)
    FROM (SELECT *, to_json(_users) AS _said FROM bi.live_activity__offices__users AS _users)
) AS given
INNER JOIN bi.live_activity__offices AS offices ON offices._row = given._parent_row
