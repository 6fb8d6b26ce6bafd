-- Do the rows of a month end so early that the service may have left out the rest?
-- One row per report, customer and month that is over, if the last row of the month is more than ten days before its
-- end. Rows of the last two days do not count, as they may come with the next request. Only a report and customer
-- with fifty rows or more in some month are checked.
-- An empty month is listed only if it is between months with rows.
-- Severity: warning
-- Concerns: commission
WITH days AS (
    SELECT 'sales' AS report, _customer AS customer, _month AS month, contract_day::DATE AS day FROM bi.sales_estates
    UNION ALL
    SELECT 'running_commissions', _customer, _month, obtained_at::DATE FROM bi.running_commissions
    UNION ALL
    SELECT 'tips_and_leads', _customer, _month, created_at::DATE FROM bi.incoming_leads
),

ends AS (
    SELECT report, customer, month, count(days.day) AS row_count, max(days.day) FILTER (days.day < last_day(month) - 1) AS last_day
    FROM meta.months
    LEFT JOIN days USING (report, customer, month)
    WHERE report IN (SELECT report FROM days) AND state = 'held'
    GROUP BY ALL
)

SELECT report, customer AS customer_id, month, last_day
FROM ends
WINDOW all_months AS (PARTITION BY report, customer)
QUALIFY max(row_count) OVER all_months >= 50
    AND month BETWEEN min(month) FILTER (row_count > 0) OVER all_months AND max(month) FILTER (row_count > 0) OVER all_months
    AND coalesce(last_day < last_day(month) - 10, true)
