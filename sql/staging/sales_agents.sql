-- Who shares the commission of an estate?
-- One row per agent of an estate in an answer. The column landed_estate identifies the answer.
-- Columns:
--   landed_row: row of bi.sales_agents by its column _row
--   landed_estate: row of bi.sales_estates that the agent is nested in
--   estate_id: id of the estate
--   user_id: id of the user who shares the commission
--   user_name: name of the user
--   user_office_id: customer id of the user's own office, not always the listing office
--   user_office_name: name of the user's own office
--   is_responsible: whether this agent is responsible for the estate
--   commission: the user's share of the commission in SEK; tax basis as declared in marts.tax_basis
--   commission_foreign: the user's share in the foreign currency; foreign properties only
--   commission_share: the user's part of the whole commission, 0 to 1
SELECT
    _row AS landed_row,
    _parent_row AS landed_estate,
    estate_id,
    id AS user_id,
    name AS user_name,
    initials,
    employee_id,
    primary_office_customer_id AS user_office_id,
    primary_office_name AS user_office_name,
    primary_office_city AS user_office_city,
    responsible AS is_responsible,
    commission_value AS commission,
    commission_value_foreign AS commission_foreign,
    (commission_percentage_of_total / 100)::DECIMAL(19, 8) AS commission_share
FROM bi.sales_agents
