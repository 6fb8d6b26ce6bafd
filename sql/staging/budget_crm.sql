-- What does the report budget_crm say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows: see budget_commission, adapt here.
-- Columns: as budget_commission
-- Expects:
--   bi.budget_crm_history: customer_id
--   bi.budget_crm__users_history: user_id|id
--   bi.budget_crm__users__months_history: total|budget_total, own_booked|budget_own_booked
--   or bi.budget_crm__users__*_history: month|period, total|budget_total, own_booked|budget_own_booked
--   or bi.budget_crm__users_history: month|period, total|budget_total, own_booked|budget_own_booked
SELECT
    months._customer AS customer_id,
    'budget_crm' AS report,
    offices.customer_id AS office_id,
    NULL AS office_named,
    users.user_id,
    months._month AS month,
    unnest([
        budgeted('meetings', coalesce(months._said ->> 'total', months._said ->> 'budget_total')),
        budgeted('own booked meetings', coalesce(months._said ->> 'own_booked', months._said ->> 'budget_own_booked'))
    ], recursive := true),
    months.valid_from_utc,
    months.valid_to_utc,
    months._load_id AS load_id
FROM (SELECT *, to_json(_months) AS _said FROM bi.budget_crm__users__months_history AS _months) AS months
INNER JOIN (
    SELECT DISTINCT _row, _parent_row, coalesce(_said ->> 'user_id', _said ->> 'id') AS user_id
    FROM (SELECT *, to_json(_users) AS _said FROM bi.budget_crm__users_history AS _users)
) AS users
    ON users._row = months._parent_row
INNER JOIN (SELECT DISTINCT _row, customer_id FROM bi.budget_crm_history) AS offices
    ON offices._row = users._parent_row
WHERE is_of_month(months._said, months._month)
