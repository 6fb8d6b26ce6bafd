-- Are there running commissions of an office that no configured customer answers for, or of an unknown office?
-- One row per office and month; the office is null if the row names none and the requested customer has several.
-- These commissions are in no mart.
-- Severity: warning
-- Concerns: nothing
WITH events AS (
    SELECT *, CASE WHEN trim(customer_id, ' 0.-') <> '' THEN customer_id END AS office_id
    FROM bi.running_commissions
)

SELECT
    events.office_id,
    events._month AS month,
    count(*) AS row_count,
    sum(events.amount::DECIMAL(28, 4) * events.exchange_rate) AS amount_sek
FROM events
LEFT JOIN marts.customers AS asked ON asked.customer_id = events._customer
ANTI JOIN marts.offices AS offices ON offices.office_id = coalesce(events.office_id, asked.own_office_id)
GROUP BY ALL
