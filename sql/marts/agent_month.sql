-- What did each agent earn and do in a month, and what was budgeted?
-- One row per user and month in which the user was active, had any commission, or has a budget of commission or homes.
-- It is the fact table of a star with marts.dim_agent, marts.dim_office and marts.calendar.
-- Commission is as the service states it. Budgets of commission are without VAT: compare them with
-- comparable_commission.
-- marts.user_month states when a number is null. A month that has only a budget has no other numbers. Budgets of future
-- months are included, with is_open.
-- Key: user_id, month
-- Columns:
--   user_id: id of the user; joins marts.dim_agent
--   office_id: customer id of the user's office in the month, else of the budget's office; joins marts.dim_office
--   office_name: name of the office
--   month: first day of the month; joins marts.calendar
--   is_active: whether the user was active, see marts.user_month
--   is_open: whether the month is not over yet, or its end has not been requested yet
--   is_commission_complete: whether the user report is loaded to the end of the month, or to now while it is open
--   commission: commission from sales, valuations and writing assignments together, by share; currency not documented,
--     tax basis as declared in marts.tax_basis
--   sold_commission: commission from sales alone, by share; currency not documented, tax basis as declared in
--     marts.tax_basis
--   sold_total_price: prices of the homes sold, by share; currency not documented
--   sold_estate_parts: homes sold; a home whose commission is shared counts in parts
--   budget_commission: the user's commission budget, in SEK without VAT as documented; null without one
--   comparable_commission: commission less VAT, if the settings declare that commission includes VAT; otherwise
--     commission as stated; see basis_note
--   budget_sold_estates: the user's budget for homes sold; null without one
--   basis_note: what to note when commission is compared with a budget; null if commission is declared to be without
--     VAT, as budgets are
WITH budgets AS (
    SELECT
        user_id,
        month,
        any_value(office_id) AS office_id,
        bool_or(is_open) AS is_open,
        max(budget) FILTER (measure = 'commission') AS budget_commission,
        max(budget) FILTER (measure = 'sold estates') AS budget_sold_estates
    FROM marts.user_budget_vs_actual
    WHERE budget IS NOT NULL
    GROUP BY ALL
)

SELECT
    user_id,
    coalesce(users.user_label, user_id) AS user_label,
    coalesce(months.office_id, budgets.office_id) AS office_id,
    offices.office_name,
    month,
    coalesce(months.is_active, false) AS is_active,
    coalesce(months.is_open, budgets.is_open) AS is_open,
    coalesce(months.is_commission_complete, false) AS is_commission_complete,
    months.commission,
    months.sold_commission,
    months.sold_total_price,
    months.sold_estate_parts,
    months.writing_parts,
    months.valuation_parts,
    months.incoming_lead_count,
    months.outgoing_lead_count,
    months.tip_count,
    budgets.budget_commission,
    without_vat(months.commission, basis)::DECIMAL(18, 4) AS comparable_commission,
    budgets.budget_sold_estates,
    basis.basis_note
FROM marts.user_month AS months
FULL JOIN budgets USING (user_id, month)
LEFT JOIN marts.users AS users USING (user_id)
LEFT JOIN marts.offices AS offices ON offices.office_id = coalesce(months.office_id, budgets.office_id)
CROSS JOIN marts.tax_basis AS basis
WHERE months.is_active
    OR months.commission <> 0
    OR budgets.budget_commission IS NOT NULL
    OR budgets.budget_sold_estates IS NOT NULL
ORDER BY month, coalesce(months.office_id, budgets.office_id), user_id
