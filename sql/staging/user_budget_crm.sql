-- What does the report user_budget_crm say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows: see budget_commission, adapt here. Its counts may
-- be named alone or under saleMeetings, as in the documented budget that the service takes.
-- Columns: as budget_commission
-- Expects:
--   bi.user_budget_crm_history: user_id|asked_user_id, total|sale_meetings_total, own_booked|sale_meetings_own_booked
SELECT
    given._customer AS customer_id,
    'user_budget_crm' AS report,
    given._said ->> 'customer_id' AS office_id,
    given._said ->> 'office_id' AS office_named,
    coalesce(given._said ->> 'user_id', given._said ->> 'asked_user_id') AS user_id,
    given._month AS month,
    unnest([
        budgeted('meetings', coalesce(given._said ->> 'total', given._said ->> 'sale_meetings_total')),
        budgeted(
            'own booked meetings',
            coalesce(given._said ->> 'own_booked', given._said ->> 'sale_meetings_own_booked')
        )
    ], recursive := true),
    given.valid_from_utc,
    given.valid_to_utc,
    given._load_id AS load_id
FROM (SELECT *, to_json(_given) AS _said FROM bi.user_budget_crm_history AS _given) AS given
WHERE is_of_month(given._said, given._month)
