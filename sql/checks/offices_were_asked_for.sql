-- Does a customer's answer have rows of an office that was not requested?
-- One row per customer and such office; these rows count for the office, and in all totals. The offices of a group, and
-- offices in the settings, even if switched off, are not listed.
-- Severity: warning
-- Concerns: commission
WITH answered_offices AS (
    SELECT _customer AS customer_id, office_customer_id AS office_id, _month AS month FROM bi.commission_office
    UNION ALL
    SELECT _customer, office_customer_id, _month FROM bi.sales_estates
    UNION ALL
    SELECT _customer, office_customer_id, _month FROM bi.sold_estates
    UNION ALL
    SELECT _customer, office_id, _month FROM bi.budget_commission_history WHERE valid_to_utc IS NULL
),

known_offices AS (
    SELECT customer_id AS office_id FROM marts.customers
    UNION
    SELECT customer_id FROM answered_offices
    UNION
    SELECT office_id FROM answered_offices WHERE customer_id NOT IN (SELECT office_id FROM marts.offices)
)

SELECT customer_id, office_id, count(*) AS row_count, min(month) AS first_month, max(month) AS last_month
FROM answered_offices
ANTI JOIN known_offices USING (office_id)
WHERE office_id IS NOT NULL
GROUP BY ALL
ORDER BY ALL
