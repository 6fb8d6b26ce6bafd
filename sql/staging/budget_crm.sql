-- What does the report budget_crm say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows: see budget_commission, adapt here.
-- Columns: as budget_commission
-- Expects:
--   bi.budget_crm_history and below: user_id, total|budget_total|sale_meetings_total, own_booked|budget_own_booked|sale_meetings_own_booked
--   or bi.budget_crm_history and below: total|budget_total|sale_meetings_total, own_booked|budget_own_booked|sale_meetings_own_booked
SELECT
    given._customer AS customer_id,
    'budget_crm' AS report,
    given._said ->> 'customer_id' AS office_id,
    given._said ->> 'office_id' AS office_named,
    given._said ->> 'user_id' AS user_id,
    given._month AS month,
    unnest([
        budgeted('meetings', meetings_said(given._said, 'total')),
        budgeted('own booked meetings', meetings_said(given._said, 'own_booked'))
    ], recursive := true),
    given.valid_from_utc,
    given.valid_to_utc,
    given._load_id AS load_id
FROM (SELECT *, to_json(_given) AS _said FROM bi.budget_crm_history AS _given) AS given
WHERE is_of_month(given._said, given._month)
