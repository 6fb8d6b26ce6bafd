-- What does the report user_budget_commission say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows: see budget_commission, adapt here.
-- Columns: as budget_commission
-- Expects:
--   bi.user_budget_commission_history: user_id|asked_user_id, commission|budget_commission|budget|goal|amount|value
SELECT
    given._customer AS customer_id,
    'user_budget_commission' AS report,
    given._said ->> 'customer_id' AS office_id,
    given._said ->> 'office_id' AS office_named,
    coalesce(given._said ->> 'user_id', given._said ->> 'asked_user_id') AS user_id,
    given._month AS month,
    unnest([budgeted('commission', budget_said(given._said, 'commission'))], recursive := true),
    given.valid_from_utc,
    given.valid_to_utc,
    given._load_id AS load_id
FROM (SELECT *, to_json(_given) AS _said FROM bi.user_budget_commission_history AS _given) AS given
WHERE is_of_month(given._said, given._month)
