-- Are there running commissions of an office that no configured customer answers for, or of an unknown office?
-- One row per office and month; the office is null if the row names none and the requested customer has several.
-- These commissions are in no mart. An event of an unknown office is left out if it counts by another customer's answer.
-- Severity: error
-- Blocks: nothing
-- Concerns: nothing
WITH uncounted AS (
    SELECT
        coalesce(CASE WHEN trim(events.customer_id, ' 0.-') <> '' THEN events.customer_id END, asked.own_office_id) AS _office,
        events._month,
        events._customer,
        (events.user_id, events.estate_id, events.obtained_at::DATE) AS _event,
        CASE WHEN events.amount = 0 THEN 0 WHEN events.exchange_rate > 0 THEN round(amount::DECIMAL(28, 4) * exchange_rate, 4)
        END AS _amount,
        count(*) AS _rows
    FROM bi.running_commissions AS events
    LEFT JOIN marts.customers AS asked ON asked.customer_id = events._customer
    GROUP BY ALL
    HAVING _office IS NULL OR _office NOT IN (SELECT office_id FROM marts.offices)
),

left_out AS (
    SELECT uncounted.* EXCLUDE (_rows), any_value(_rows) - count(counted._month) AS _rows
    FROM uncounted
    LEFT JOIN marts.running_commissions AS counted
        ON _office IS NULL AND counted._month = uncounted._month AND counted._customer <> uncounted._customer
        AND (counted.user_id, estate_id, obtained_on) IS NOT DISTINCT FROM _event
        AND amount_sek_excl_vat IS NOT DISTINCT FROM _amount
    GROUP BY ALL
)

SELECT _office AS office_id, _month AS month, sum(_rows)::BIGINT AS row_count, sum(_amount * _rows) AS amount_sek
FROM left_out
WHERE _rows > 0
GROUP BY ALL
