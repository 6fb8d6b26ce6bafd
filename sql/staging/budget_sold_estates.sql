-- What does the report budget_sold_estates say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows: see budget_commission, adapt here.
-- Columns: as budget_commission
-- Expects:
--   bi.budget_sold_estates_history and below: user_id, sold|budget_sold|budget|goal|amount|value|*
--   or bi.budget_sold_estates_history and below: sold|budget_sold
SELECT
    given._customer AS customer_id,
    'budget_sold_estates' AS report,
    given._said ->> 'customer_id' AS office_id,
    given._said ->> 'office_id' AS office_named,
    given._said ->> 'user_id' AS user_id,
    given._month AS month,
    unnest([budgeted('sold estates', budget_said(given._said, 'sold'))], recursive := true),
    given.valid_from_utc,
    given.valid_to_utc,
    given._load_id AS load_id
FROM (SELECT *, to_json(_given) AS _said FROM bi.budget_sold_estates_history AS _given) AS given
WHERE is_of_month(given._said, given._month)
