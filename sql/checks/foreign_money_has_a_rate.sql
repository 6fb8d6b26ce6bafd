-- Is there foreign money that cannot be turned into SEK?
-- One row per sale or running commission without an exchange rate; an amount of zero needs none.
-- Severity: warning
-- Concerns: nothing
SELECT 'sale' AS kind, month, office_id, estate_id, currency_code
FROM marts.sales
WHERE (commission_foreign <> 0 OR final_price_foreign <> 0) AND coalesce(currency_exchange_rate, 0) <= 0
UNION ALL
SELECT 'running commission', _month, customer_id, estate_id, NULL
FROM bi.running_commissions
WHERE amount <> 0 AND coalesce(exchange_rate, 0) <= 0
