-- Do the marts of intake and of money hold the commission of all sales?
-- One row per mart that does not add up to marts.sales.
-- Severity: warning
-- Concerns: sales
SELECT mart, found.commission, sales.commission AS commission_of_sales
FROM (
    SELECT 'intake_month' AS mart, sum(commission) AS commission FROM marts.intake_month
    UNION ALL
    SELECT 'money_calendar', sum(commission) FROM marts.money_calendar
) AS found
CROSS JOIN (SELECT sum(commission) AS commission FROM marts.sales) AS sales
WHERE found.commission IS DISTINCT FROM sales.commission
