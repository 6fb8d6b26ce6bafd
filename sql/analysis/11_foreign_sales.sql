-- What is sold abroad, in which currency, and what is it worth in SEK?
-- One row per currency and year.
--
-- commission and final_price look like the foreign amounts in SEK; the service does not document their currency. The rate
-- is the service's own.
-- Parameters: year, office
SELECT
    year(month) AS year,
    currency_code,
    count(*) AS homes,
    sum(final_price_foreign) AS price_in_currency,
    sum(final_price) AS price_at_home,
    (sum(commission) / any_value(vat_divisor))::DECIMAL(18, 4) AS commission_at_home,
    round(avg(currency_exchange_rate), 4) AS average_rate,
    any_value(divided_basis) AS commission_basis
FROM marts.sales
CROSS JOIN marts.tax_basis
WHERE currency_code IS NOT NULL
    AND year(month) = coalesce(getvariable('year'), year(month))
    AND office_id = coalesce(getvariable('office'), office_id)
GROUP BY ALL
ORDER BY year DESC, commission_at_home DESC;
