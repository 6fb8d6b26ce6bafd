-- Which sales make up the commission of the month?
-- One row per sale and agent of marts.sale_shares, the largest first. A share counts at the agent's own office, not
-- at the one that listed the home. Commission that is in no listed sale is in marts.reconciliation.
-- Parameters: kind, id, month, measure, report
SELECT
    coalesce(sales.street_address, shares.estate_id) AS home,
    shares.contract_on,
    coalesce(users.user_label, shares.user_name, shares.user_id) AS agent,
    shares.commission_share,
    shares.commission,
    sales.access_on AS possession_on,
    paid.state,
    paid.days_due,
    paid.commission_received_on AS received_on,
    shares.estate_id AS id
FROM marts.sale_shares AS shares
INNER JOIN marts.sales AS sales ON sales.estate_id = shares.estate_id
LEFT JOIN marts.receivables AS paid ON paid.estate_id = shares.estate_id
LEFT JOIN marts.users AS users ON users.user_id = shares.user_id
WHERE shares.month = getvariable('month')::DATE
    AND is_of_commissions()
    AND getvariable('measure') <> 'active_agent_count'
    AND getvariable('kind') <> 'chain'
    AND is_of_number(shares.user_office_id, shares.user_id)
ORDER BY shares.commission DESC, shares.estate_id, shares.user_id
