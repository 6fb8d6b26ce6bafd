-- What does the report budget_crm say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows: see budget_commission, adapt here.
-- Columns: as budget_commission
-- Expects:
--   bi.budget_crm_history: customer_id
--   bi.budget_crm__users_history: user_id
--   bi.budget_crm__users__months_history: total, own_booked
SELECT
    _months._customer AS customer_id,
    'budget_crm' AS report,
    _offices.customer_id AS office_id,
    NULL AS office_named,
    _users.user_id,
    _months._month AS month,
    unnest([
        budgeted('meetings', _months.total),
        budgeted('own booked meetings', _months.own_booked)
    ], recursive := true),
    _months.valid_from_utc,
    _months.valid_to_utc,
    _months._load_id AS load_id
FROM bi.budget_crm__users__months_history AS _months
INNER JOIN (SELECT DISTINCT _row, _parent_row, user_id FROM bi.budget_crm__users_history) AS _users
    ON _users._row = _months._parent_row
INNER JOIN (SELECT DISTINCT _row, customer_id FROM bi.budget_crm_history) AS _offices
    ON _offices._row = _users._parent_row
WHERE is_of_month(_months, _months._month)
