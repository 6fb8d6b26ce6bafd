-- What does the report user_budget_estate say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows: see budget_commission, adapt here. Its counts may
-- be named alone or under estates, as in the documented budget that the service takes.
-- Columns: as budget_commission
-- Expects:
--   bi.user_budget_estate_history: user_id, sold|estates_sold, registered|estates_registered
SELECT
    _given._customer AS customer_id,
    'user_budget_estate' AS report,
    to_json(_given) ->> 'customer_id' AS office_id,
    to_json(_given) ->> 'office_id' AS office_named,
    _given.user_id,
    _given._month AS month,
    unnest([
        budgeted('sold estates', coalesce(to_json(_given) ->> 'sold', to_json(_given) ->> 'estates_sold')),
        budgeted('registered estates', coalesce(to_json(_given) ->> 'registered', to_json(_given) ->> 'estates_registered'))
    ], recursive := true),
    _given.valid_from_utc,
    _given.valid_to_utc,
    _given._load_id AS load_id
FROM bi.user_budget_estate_history AS _given
WHERE is_of_month(_given, _given._month)
