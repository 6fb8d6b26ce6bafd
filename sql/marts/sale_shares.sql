-- What did each agent earn on each sale?
-- One row per estate of marts.sales and agent.
-- Key: estate_id, user_id
-- Columns:
--   commission_foreign: the agent's share of the commission in the foreign currency; foreign properties only
--   month: first day of the month of the contract
--   office_id: customer id of the listing office, under which the service reports the home
--   user_office_id: customer id of the agent's own office in the month, at which the share counts; null if unknown
--   user_office_name: name of the agent's own office
--   is_cross_office: whether the agent's own office is not the listing office
--   commission: the agent's share of the commission in SEK; tax basis as declared in marts.tax_basis
--   commission_share: the agent's part of the whole commission, 0 to 1; also the agent's part of one sold home
--   final_price_part: the agent's part of the sale price; currency not documented
--   user_id: id of the agent
--   user_name: name of the agent; two users may have the same name: group by user_id, and show the label of marts.users
--   _row: row of bi.sales_agents
SELECT
    sales.estate_id,
    agents.user_id,
    agents.user_name,
    agents.initials,
    agents.employee_id,
    sales.month,
    sales.contract_on,
    sales.office_id,
    agents.counted_office_id AS user_office_id,
    CASE WHEN agents.counted_office_id = agents.user_office_id THEN agents.user_office_name ELSE offices.office_name END
        AS user_office_name,
    agents.counted_office_id <> sales.office_id AS is_cross_office,
    agents.is_responsible,
    agents.commission,
    agents.commission_foreign,
    agents.commission_share,
    (sales.final_price::DECIMAL(28, 4) * agents.commission_share)::DECIMAL(18, 4) AS final_price_part,
    sales._customer,
    sales._month,
    sales._load_id,
    agents.landed_row AS _row
FROM staging.placed_agents AS agents
INNER JOIN marts.sales AS sales ON sales._row = agents.landed_estate
LEFT JOIN marts.offices AS offices ON offices.office_id = agents.counted_office_id
ORDER BY year(sales.month), sales.office_id, sales.month
