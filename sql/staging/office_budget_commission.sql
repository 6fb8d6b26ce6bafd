-- What does the report office_budget_commission say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows: see budget_commission, adapt here.
-- Columns: as budget_commission
-- Expects:
--   bi.office_budget_commission_history: user_id, commission
SELECT
    _given._customer AS customer_id,
    'office_budget_commission' AS report,
    to_json(_given) ->> 'customer_id' AS office_id,
    to_json(_given) ->> 'office_id' AS office_named,
    _given.user_id,
    _given._month AS month,
    unnest([budgeted('commission', _given.commission)], recursive := true),
    _given.valid_from_utc,
    _given.valid_to_utc,
    _given._load_id AS load_id
FROM bi.office_budget_commission_history AS _given
WHERE is_of_month(_given, _given._month)
