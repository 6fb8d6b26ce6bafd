-- Does one estate id stand for the homes of two offices?
-- One row per sale that marts.sales leaves out because another office has a sale of that id, of another day, price and
-- address; its office lacks it in all that is made of sales, but not in its commissions. Ask the service's support whether
-- estate ids are its own, the same whoever asks.
-- Severity: warning
-- Concerns: sales
SELECT
    estate_id, month, office_id, contract_on, street_address, final_price, commission,
    counted_month, counted_office_id, counted_contract_on, counted_street_address, counted_final_price
FROM marts.ambiguous_estates
ORDER BY month DESC, office_id, estate_id
