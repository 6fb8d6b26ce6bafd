-- Are there amounts without an office, user or home, so that no mart counts them?
-- One row per report, customer and month with such rows, which are only in bi. Running commissions and leads are not
-- here: without an office, they count for the customer's only office, or checks of their own find them.
-- Severity: error
-- Concerns: nothing
SELECT report, _customer AS customer_id, _month AS month, count(*) AS row_count
FROM (
    SELECT 'sales' AS report, _customer, _month
    FROM bi.sales_estates
    WHERE (id IS NULL OR office_customer_id IS NULL) AND commission <> 0
    UNION ALL
    SELECT 'sales', _customer, _month FROM bi.sales_agents WHERE id IS NULL AND commission_value <> 0
    UNION ALL
    SELECT 'commission_office', _customer, _month
    FROM bi.commission_office
    WHERE office_customer_id IS NULL AND customer_id IS NULL AND commission <> 0
    UNION ALL
    SELECT 'commission_user', _customer, _month FROM bi.commission_user WHERE user_id IS NULL AND commission <> 0
) AS unnamed
GROUP BY ALL
ORDER BY ALL
