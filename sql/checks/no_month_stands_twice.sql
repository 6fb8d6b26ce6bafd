-- Do the rows of a month come from more than the one load in force?
-- One row per table, customer and month with rows of another load than meta.months names.
-- Severity: error
WITH rows_of_months AS (
    SELECT 'commission_office' AS report, _customer, _month, _load_id, count(*) AS row_count
    FROM bi.commission_office GROUP BY ALL
    UNION ALL
    SELECT 'commission_user', _customer, _month, _load_id, count(*) FROM bi.commission_user GROUP BY ALL
    UNION ALL
    SELECT 'sales', _customer, _month, _load_id, count(*) FROM bi.sales_estates GROUP BY ALL
    UNION ALL
    SELECT 'running_commissions', _customer, _month, _load_id, count(*) FROM bi.running_commissions GROUP BY ALL
    UNION ALL
    SELECT 'tips_and_leads', _customer, _month, _load_id, count(*) FROM bi.incoming_leads GROUP BY ALL
    UNION ALL
    SELECT 'tips_and_leads', _customer, _month, _load_id, count(*) FROM bi.outgoing_leads GROUP BY ALL
    UNION ALL
    SELECT 'tips_and_leads', _customer, _month, _load_id, count(*) FROM bi.tips GROUP BY ALL
    UNION ALL
    SELECT 'sold_estates', _customer, _month, _load_id, count(*) FROM bi.sold_estates GROUP BY ALL
)

SELECT found.report, found._customer AS customer, found._month AS month, found._load_id AS load_id, found.row_count
FROM rows_of_months AS found
LEFT JOIN meta.months AS held
    ON held.report = found.report
    AND held.customer = found._customer
    AND held.month = found._month
    AND held.load_id = found._load_id
WHERE held.load_id IS NULL
