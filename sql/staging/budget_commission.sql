-- What does the report budget_commission say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows, and this file is the one place that leans on their shape. Where a real
-- answer differs the result is empty and meta.assumptions says why: adapt Expects and the query to what
-- arrived. Their list of months may have any name, and the only number in its rows is the amount; or each row of a user is
-- of a month. A row of a history that changed stands there once for every version, under one _row. A row that
-- says which year and month it is about counts in that month only, should an answer hold more than was asked.
-- An amount that is no number is null, and a check names it.
-- Columns:
--   customer_id VARCHAR: the customer that was asked, an office or a group
--   report VARCHAR: the budget report that this comes from
--   office_id VARCHAR: customer id of the office; null where the row has none, see budgets
--   office_named VARCHAR: the office as the row names it otherwise; null where it does not
--   user_id VARCHAR: id of the user whose budget it is
--   month DATE: first day of the month
--   measure VARCHAR: what is budgeted: commission, sold estates, registered estates, meetings or own booked
--     meetings
--   amount DECIMAL(18, 4): commission, where budgets are set documented as whole SEK without VAT, else a count
--   valid_from_utc TIMESTAMP: when this version was first read
--   valid_to_utc TIMESTAMP: when it was first read no more; null while it stands
--   load_id VARCHAR: the load it comes from; joins meta.loads
-- Expects:
--   bi.budget_commission_history: customer_id
--   bi.budget_commission__users_history: user_id|id
--   bi.budget_commission__users__months_history: commission|budget_commission|budget|goal|amount|value
--   or bi.budget_commission__users__*_history: month|period, commission|budget_commission|budget|goal|amount|value|*
--   or bi.budget_commission__users_history: month|period, commission|budget_commission|budget|goal|amount|value
SELECT
    months._customer AS customer_id,
    'budget_commission' AS report,
    offices.customer_id AS office_id,
    NULL AS office_named,
    users.user_id,
    months._month AS month,
    unnest([budgeted('commission', budget_said(months._said, 'commission'))], recursive := true),
    months.valid_from_utc,
    months.valid_to_utc,
    months._load_id AS load_id
FROM (SELECT *, to_json(_months) AS _said FROM bi.budget_commission__users__months_history AS _months) AS months
INNER JOIN (
    SELECT DISTINCT _row, _parent_row, coalesce(_said ->> 'user_id', _said ->> 'id') AS user_id
    FROM (SELECT *, to_json(_users) AS _said FROM bi.budget_commission__users_history AS _users)
) AS users
    ON users._row = months._parent_row
INNER JOIN (SELECT DISTINCT _row, customer_id FROM bi.budget_commission_history) AS offices
    ON offices._row = users._parent_row
WHERE is_of_month(months._said, months._month)
