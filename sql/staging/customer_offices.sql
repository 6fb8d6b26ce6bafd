-- Which offices does each customer answer for?
-- One row per customer asked and office that it answered for in any month.
-- An office that once had rows and has lost them all is still answered for, as earlier totals remember.
-- Only reports with an entry per office asked are read; the offices of agents or leads may be somebody else's.
-- Columns:
--   customer_id: the customer that was asked, an office or a group
--   office_id: customer id of the office
--   office_name: name of the office
--   office_city: town of the office
--   named_at_utc: when an answer last named it
--   first_month: first month in which its answers have an entry of the office; null where none has any more
--   last_month: last month in which they have one, months to come of budgets included
SELECT
    customer_id,
    office_id,
    arg_max(office_name, fetched_at_utc) AS office_name,
    arg_max(office_city, fetched_at_utc) AS office_city,
    max(fetched_at_utc) FILTER (office_name IS NOT NULL) AS named_at_utc,
    min(first_month) AS first_month,
    max(last_month) AS last_month
FROM (
    SELECT
        customer_id, office_id, NULL AS office_name, NULL AS office_city, NULL::TIMESTAMP AS fetched_at_utc,
        min(month) AS first_month, max(month) AS last_month
    FROM staging.commission_office GROUP BY ALL
    UNION ALL
    SELECT
        _customer, office_customer_id, office_name, NULL, max(_fetched_at_utc), min(_month), max(_month)
    FROM bi.sales_estates GROUP BY ALL
    UNION ALL
    SELECT
        _customer, office_customer_id, office_name, office_city, max(_fetched_at_utc), min(_month), max(_month)
    FROM bi.sold_estates GROUP BY ALL
    UNION ALL
    SELECT
        _customer, customer_id, name, city, max(_fetched_at_utc),
        min(_month) FILTER (valid_to_utc IS NULL), max(_month) FILTER (valid_to_utc IS NULL)
    FROM bi.budget_commission_history GROUP BY ALL
    UNION ALL
    SELECT
        _customer, customer_id, name, city, max(_fetched_at_utc),
        min(_month) FILTER (valid_to_utc IS NULL), max(_month) FILTER (valid_to_utc IS NULL)
    FROM bi.budget_sold_estates_history GROUP BY ALL
    UNION ALL
    SELECT DISTINCT customer_id, office_id, NULL, NULL, NULL, NULL::DATE, NULL::DATE
    FROM staging.month_totals_kept
)
WHERE office_id IS NOT NULL
GROUP BY ALL
