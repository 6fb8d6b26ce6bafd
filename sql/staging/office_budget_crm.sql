-- What does the report office_budget_crm say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows: see budget_commission, adapt here. Its counts may
-- be named alone or under saleMeetings, as in the documented budget that the service takes.
-- Columns: as budget_commission
-- Expects:
--   bi.office_budget_crm_history: user_id, total|sale_meetings_total, own_booked|sale_meetings_own_booked
SELECT
    given._customer AS customer_id,
    'office_budget_crm' AS report,
    to_json(given) ->> 'customer_id' AS office_id,
    to_json(given) ->> 'office_id' AS office_named,
    given.user_id,
    given._month AS month,
    unnest([
        budgeted('meetings', coalesce(to_json(given) ->> 'total', to_json(given) ->> 'sale_meetings_total')),
        budgeted(
            'own booked meetings',
            coalesce(to_json(given) ->> 'own_booked', to_json(given) ->> 'sale_meetings_own_booked')
        )
    ], recursive := true),
    given.valid_from_utc,
    given.valid_to_utc,
    given._load_id AS load_id
FROM bi.office_budget_crm_history AS given
WHERE is_of_month(given, given._month)
