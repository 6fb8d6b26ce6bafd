-- Which sales is the commission of the months made of, and when are they paid?
-- One row per sale, the largest share first. A share counts at the agent's own office and not at the one that listed
-- the home. Commission for writings and valuations is in no sale.
-- Parameters: kind, id, first_month, month, report
SELECT
    coalesce(sales.street_address, sales.estate_id) AS home,
    sales.contract_on,
    sum(shares.commission) AS commission,
    sum(shares.commission_share) AS homes,
    sales.access_on AS possession_on,
    paid.state,
    paid.days_due,
    paid.commission_received_on AS received_on,
    sales.agents,
    sales.estate_id AS id
FROM marts.sale_shares AS shares
INNER JOIN marts.sales AS sales USING (estate_id)
LEFT JOIN marts.receivables AS paid USING (estate_id)
WHERE shares.month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    AND is_of_commissions() AND getvariable('kind') <> 'chain' AND is_asked_for(shares.user_office_id, shares.user_id)
GROUP BY ALL
ORDER BY sum(shares.commission) DESC, id
