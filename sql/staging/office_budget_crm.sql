-- What does the report office_budget_crm say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows: see budget_commission, adapt here. Its counts may
-- be named alone or under saleMeetings, as in the documented budget that the service takes.
-- Columns: as budget_commission
-- Expects:
--   bi.office_budget_crm_history: user_id, total|sale_meetings_total, own_booked|sale_meetings_own_booked
SELECT
    _given._customer AS customer_id,
    'office_budget_crm' AS report,
    to_json(_given) ->> 'customer_id' AS office_id,
    to_json(_given) ->> 'office_id' AS office_named,
    _given.user_id,
    _given._month AS month,
    unnest([
        budgeted('meetings', coalesce(to_json(_given) ->> 'total', to_json(_given) ->> 'sale_meetings_total')),
        budgeted(
            'own booked meetings',
            coalesce(to_json(_given) ->> 'own_booked', to_json(_given) ->> 'sale_meetings_own_booked')
        )
    ], recursive := true),
    _given.valid_from_utc,
    _given.valid_to_utc,
    _given._load_id AS load_id
FROM bi.office_budget_crm_history AS _given
WHERE is_of_month(_given, _given._month)
