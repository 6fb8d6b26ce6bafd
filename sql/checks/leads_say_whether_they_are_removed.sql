-- Are there leads for which the service does not state whether they were removed?
-- One row per customer and month; removed leads among them are counted as active.
-- This happens if the service gives the same answer for active and for removed leads, and with leads loaded by version
-- 0.1.
-- Severity: warning
-- Concerns: leads
SELECT _customer AS customer_id, _month AS month, count(*) AS lead_count
FROM (
    SELECT _customer, _month, is_removed FROM bi.incoming_leads
    UNION ALL
    SELECT _customer, _month, is_removed FROM bi.outgoing_leads
    UNION ALL
    SELECT _customer, _month, is_removed FROM bi.tips
)
WHERE is_removed IS NULL
GROUP BY ALL
ORDER BY ALL
