-- What does the report user_budget_crm say, as far as its shape can be assumed?
-- One row per office, user, month, measure and version of a budget.
-- Nobody has documented these rows: see budget_commission, adapt here.
-- Columns: as budget_commission
-- Expects:
--   bi.user_budget_crm_history: customer_id, user_id, total, own_booked
WITH goals AS (
    SELECT
        _customer AS customer_id,
        given.customer_id AS office_id,
        user_id AS user_id,
        _month AS month,
        valid_from_utc,
        valid_to_utc,
        _load_id AS load_id,
        TRY_CAST(total AS DECIMAL(18, 4)) AS "meetings",
        TRY_CAST(own_booked AS DECIMAL(18, 4)) AS "own booked meetings"
    FROM bi.user_budget_crm_history AS given
    WHERE
        coalesce(TRY_CAST(to_json(given) ->> 'year' AS INT), year(given._month)) = year(given._month)
        AND coalesce(TRY_CAST(to_json(given) ->> 'month' AS INT), month(given._month)) = month(given._month)
)

SELECT
    customer_id,
    'user_budget_crm' AS report,
    office_id,
    user_id,
    month,
    measure,
    amount,
    valid_from_utc,
    valid_to_utc,
    load_id
FROM goals UNPIVOT INCLUDE NULLS (amount FOR measure IN ("meetings", "own booked meetings"))
