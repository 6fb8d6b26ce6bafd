-- Are there leads of which the service does not say whether they were removed?
-- One row per customer and month; removed ones among them count as if they were not. So it is where active and removed
-- ones are asked for apart and the answers are the same, and of what version 0.1 read.
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
