-- What did users do in a month, as far as the shape of live activity can be assumed?
-- One row per customer asked, user, month and number in the row of the user.
-- Nobody has documented the report: assumed is one list of users somewhere in it, and that every number in its rows that
-- is no id counts something that the user did. Its name is that of the service. If yours differ, adapt here.
-- Columns:
--   customer_id VARCHAR: the customer that was asked, an office or a group
--   office_id VARCHAR: customer id of the office that the row, or one around it, names; null where neither does
--   user_id VARCHAR: id of the user
--   month DATE: first day of the month
--   load_id VARCHAR: the load it comes from; joins meta.loads
--   measure VARCHAR: what is counted, under the service's name
--   amount DECIMAL(18, 4): how many
-- Expects:
--   bi.live_activity and below: user_id, +
SELECT
    given._customer AS customer_id,
    coalesce(given._said ->> 'customer_id', given._said ->> 'office_customer_id', given._said ->> 'office_id') AS office_id,
    given._said ->> 'user_id' AS user_id,
    given._month AS month,
    given._load_id AS load_id,
    given.measure,
    given.amount
FROM (
    SELECT _said, _customer, _month, _load_id, unnest(counted_in(_said), recursive := true)
    FROM (SELECT *, to_json(_users) AS _said FROM bi.live_activity AS _users)
) AS given
