-- Does one estate id name the homes of two offices?
-- One row per sale that marts.sales leaves out because another office has a sale with the same id but another day,
-- price and address. The sales figures of its office lack it; the office's commissions include it. Ask the service's
-- support whether its estate ids are the same for every customer.
-- Severity: warning
-- Concerns: sales
SELECT
    estate_id, month, office_id, contract_on, street_address, final_price, commission,
    counted_month, counted_office_id, counted_contract_on, counted_street_address, counted_final_price
FROM marts.ambiguous_estates
ORDER BY month DESC, office_id, estate_id
