-- Did an office earn running commissions that no configured customer answers for?
-- One row per office and month; its commissions are in no mart.
-- Severity: warning
-- Concerns: nothing
SELECT
    customer_id AS office_id,
    _month AS month,
    count(*) AS row_count,
    sum(amount::DECIMAL(28, 4) * exchange_rate) AS amount_sek
FROM bi.running_commissions AS running
WHERE NOT EXISTS (FROM marts.offices WHERE offices.office_id = running.customer_id)
GROUP BY ALL
