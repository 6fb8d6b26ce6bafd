-- What does the report user_budget_estate say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows: see budget_commission, adapt here. Its counts may
-- be named alone or under estates, as in the documented budget that the service takes.
-- Columns: as budget_commission
-- Expects:
--   bi.user_budget_estate_history: user_id|asked_user_id, sold|estates_sold, registered|estates_registered
SELECT
    given._customer AS customer_id,
    'user_budget_estate' AS report,
    given._said ->> 'customer_id' AS office_id,
    given._said ->> 'office_id' AS office_named,
    coalesce(given._said ->> 'user_id', given._said ->> 'asked_user_id') AS user_id,
    given._month AS month,
    unnest([
        budgeted('sold estates', coalesce(given._said ->> 'sold', given._said ->> 'estates_sold')),
        budgeted('registered estates', coalesce(given._said ->> 'registered', given._said ->> 'estates_registered'))
    ], recursive := true),
    given.valid_from_utc,
    given.valid_to_utc,
    given._load_id AS load_id
FROM (SELECT *, to_json(_given) AS _said FROM bi.user_budget_estate_history AS _given) AS given
WHERE is_of_month(given._said, given._month)
