-- Are there running commissions of an office that no configured customer answers for, or of an unknown office?
-- One row per office and month; the office is null if the row names none and the requested customer has several.
-- These commissions are in no mart. An event that another customer answers for too, and that counts by that answer, is
-- left out.
-- Severity: error
-- Concerns: nothing
WITH events AS (
    SELECT
        events.*,
        coalesce(CASE WHEN trim(events.customer_id, ' 0.-') <> '' THEN events.customer_id END, own_office_id) AS office_id,
        round(amount::DECIMAL(28, 4) * exchange_rate, 4) AS amount_sek
    FROM bi.running_commissions AS events
    LEFT JOIN marts.customers AS asked ON asked.customer_id = events._customer
)

SELECT office_id, _month AS month, count(*) AS row_count, sum(amount_sek) AS amount_sek
FROM events
ANTI JOIN marts.offices USING (office_id)
ANTI JOIN marts.running_commissions AS counted
    ON counted._month = events._month AND counted._customer <> events._customer
    AND (counted.user_id, counted.estate_id, counted.obtained_on, coalesce(amount_sek_excl_vat, 0))
    IS NOT DISTINCT FROM (events.user_id, events.estate_id, obtained_at::DATE, coalesce(amount_sek, 0))
GROUP BY ALL
