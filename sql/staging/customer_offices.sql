-- Which offices does each customer answer for?
-- One row per requested customer and office that it answered for in any month.
-- An office whose entries have all disappeared keeps its row if meta.month_totals has an earlier total of it.
-- Reports of agents and leads are not read, because these may belong to other offices.
-- Kind: table
-- Columns:
--   customer_id: the requested customer, an office or a group
--   office_id: customer id of the office
--   office_name: name of the office
--   office_city: town of the office
--   named_at_utc: when an answer last named the office
--   first_month: first month in which the customer's answers have an entry of the office; null if none has one any more
--   last_month: last month in which the customer's answers have an entry of the office, coming months of budgets
--     included
--   latest_run_utc: start of the latest run in which an answer of the customer has an entry of the office; budgets do
--     not count
--   has_moved: whether the office has moved to another customer: a later run of this customer had no entry of the
--     office, and a later run of another requested customer had one
--   came_after_utc: for an office that moved here from another customer: start of the latest run in which that other
--     customer had an entry of the office; null if the office did not move
WITH entries AS (
    SELECT
        'commission_office' AS report, customer_id, office_id, NULL AS office_name, NULL AS office_city,
        NULL::TIMESTAMP AS fetched_at_utc, month
    FROM staging.commission_office GROUP BY ALL
    UNION ALL
    SELECT
        'sales', _customer, office_customer_id, office_name, NULL, max(_fetched_at_utc), _month
    FROM bi.sales_estates GROUP BY ALL
    UNION ALL
    SELECT
        'sold_estates', _customer, office_customer_id, office_name, office_city, max(_fetched_at_utc), _month
    FROM bi.sold_estates GROUP BY ALL
    UNION ALL
    SELECT
        'budget_commission', _customer, office_id, office_name, office_city, max(_fetched_at_utc),
        CASE WHEN valid_to_utc IS NULL THEN _month END
    FROM bi.budget_commission_history GROUP BY ALL
    UNION ALL
    SELECT
        'budget_sold_estates', _customer, office_id, office_name, office_city, max(_fetched_at_utc),
        CASE WHEN valid_to_utc IS NULL THEN _month END
    FROM bi.budget_sold_estates_history GROUP BY ALL
    UNION ALL
    SELECT DISTINCT NULL, customer_id, office_id, NULL, NULL, NULL::TIMESTAMP, NULL::DATE
    FROM meta.month_totals
),

offices_gathered AS (
    SELECT
        entries.customer_id,
        entries.office_id,
        arg_max(entries.office_name, entries.fetched_at_utc) AS office_name,
        arg_max(entries.office_city, entries.fetched_at_utc) AS office_city,
        max(entries.fetched_at_utc) FILTER (entries.office_name IS NOT NULL) AS named_at_utc,
        min(entries.month) AS first_month,
        max(entries.month) AS last_month,
        -- budgets are left out, because their rows stay as they were first read
        max(months.run_began_at_utc) FILTER (NOT starts_with(entries.report, 'budget')) AS latest_run_utc
    FROM entries
    LEFT JOIN staging.months AS months USING (report, customer_id, month)
    WHERE entries.office_id IS NOT NULL
    GROUP BY ALL
),

runs AS (
    SELECT customer_id, max(run_began_at_utc) AS latest_run_utc FROM staging.months GROUP BY ALL
)

SELECT
    *,
    CASE WHEN NOT has_moved THEN max(latest_run_utc) FILTER (has_moved) OVER (PARTITION BY office_id) END AS came_after_utc
FROM (
    SELECT
        offices_gathered.*,
        coalesce(
            runs.latest_run_utc > offices_gathered.latest_run_utc
            AND max(offices_gathered.latest_run_utc) FILTER (customers.is_active) OVER (PARTITION BY office_id)
            > offices_gathered.latest_run_utc,
            false
        ) AS has_moved
    FROM offices_gathered
    LEFT JOIN staging.customers AS customers USING (customer_id)
    LEFT JOIN runs USING (customer_id)
)
