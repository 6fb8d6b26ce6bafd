-- What is sold abroad, in which currency, and what is it worth in SEK?
-- One row per currency and year.
--
-- commission and final_price are in SEK as the service turned them; the rate is the service's own.
SELECT
    year(month) AS year,
    currency_code,
    count(*) AS homes,
    sum(final_price_foreign) AS price_in_currency,
    sum(final_price) AS price_in_sek,
    sum(commission) AS commission_in_sek,
    round(avg(currency_exchange_rate), 4) AS average_rate
FROM marts.sales
WHERE currency_code IS NOT NULL
GROUP BY ALL
ORDER BY year DESC, commission_in_sek DESC;
