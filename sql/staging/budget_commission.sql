-- What does the report budget_commission say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows, and this file is the one place that leans on their shape. Where a real
-- answer differs the result is empty and meta.assumptions says why: adapt Expects and the query to what
-- arrived. They may be in whichever list below the offices names a user and an amount, or in rows of the offices alone
-- where none names a user; the user, year and month may be those of the row around. The only number of such a row is the
-- amount. A row of a history that changed stands there once for every version, under one _row. A row that
-- says which year and month it is about counts in that month only, should an answer hold more than was asked; one that says
-- none is of the month that was asked for alone.
-- An amount that is no number is null, and a check names it.
-- Columns:
--   customer_id VARCHAR: the customer that was asked, an office or a group
--   report VARCHAR: the budget report that this comes from
--   office_id VARCHAR: customer id of the office; null where the row has none, see budgets
--   office_named VARCHAR: the office as the row names it otherwise; null where it does not
--   user_id VARCHAR: id of the user whose budget it is; null where it is the office's
--   month DATE: first day of the month
--   measure VARCHAR: what is budgeted: commission, sold estates, registered estates, meetings or own booked
--     meetings
--   amount DECIMAL(18, 4): commission, where budgets are set documented as whole SEK without VAT, else a count
--   valid_from_utc TIMESTAMP: when this version was first read
--   valid_to_utc TIMESTAMP: when it was first read no more; null while it stands
--   load_id VARCHAR: the load it comes from; joins meta.loads
-- Expects:
--   bi.budget_commission_history and below: user_id, commission|budget_commission|budget|goal|amount|value|*
--   or bi.budget_commission_history and below: commission|budget_commission
SELECT
    given._customer AS customer_id,
    'budget_commission' AS report,
    given._said ->> 'customer_id' AS office_id,
    given._said ->> 'office_id' AS office_named,
    given._said ->> 'user_id' AS user_id,
    given._month AS month,
    unnest([budgeted('commission', budget_said(given._said, 'commission'))], recursive := true),
    given.valid_from_utc,
    given.valid_to_utc,
    given._load_id AS load_id
FROM (SELECT *, to_json(_given) AS _said FROM bi.budget_commission_history AS _given) AS given
WHERE is_of_month(given._said, given._month)
