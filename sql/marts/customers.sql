-- Which customers are requested, what are they called, and which months of them are loaded?
-- One row per customer of the settings, and per removed customer with a load, even a failed one.
-- A customer is an office or a group.
-- Months of a customer that is switched off, removed or denied stay as they were last read.
-- Key: customer_id
-- Columns:
--   customer_id: customer id of an office or a group
--   customer_name: name of the customer in the settings, else of the office with the same id; null if neither has one
--   start_month: first day of the first month to load; null if the customer is no longer in the settings
--   is_active: whether the customer is requested; its loaded rows stay either way
--   refused_reports: names of the reports that the service denies to the customer; null if it denies none
--   region: region of the customer in the settings; null if it has none
--   is_refreshed: whether the customer is requested, and the service denies none of its reports
--   office_count: number of offices that the customer answered for
--   own_office_id: customer id of the office to which rows that name no office are attributed: the customer itself if
--     it is an office, else the only office that it answered for. Null in two cases: a group answered for several; the
--     customer answered for none
--   offices: names or ids of the offices that the customer answered for
--   first_month: first day of the oldest loaded month of any report; budgets, which have coming months, do not count
--   last_month: first day of the newest loaded month of any report; budgets, which have coming months, do not count
--   not_refreshed_offices: names or ids of offices with months whose numbers come from this customer and are no longer
--     refreshed. Reports that are switched off do not count. Null if there are none
WITH loaded_months AS (
    SELECT customer_id, min(month) AS first_month, max(month) AS last_month
    FROM staging.months
    WHERE report NOT IN (SELECT report FROM staging.months WHERE month > local_day(fetched_at_utc))
    GROUP BY ALL
),

office_lists AS (
    SELECT
        customer_id,
        count(*) AS office_count,
        array_to_string(list_sort(list(coalesce(office_name, office_id))), ', ') AS offices
    FROM staging.customer_offices
    GROUP BY ALL
),

stale_offices AS (
    SELECT
        sources.customer_id,
        array_to_string(list_sort(list(DISTINCT coalesce(office_name, office_id))), ', ') AS offices
    FROM marts.office_sources AS sources
    LEFT JOIN marts.offices USING (office_id)
    WHERE NOT is_refreshed AND source_state <> 'report switched off'
    GROUP BY ALL
)

SELECT
    customers.customer_id,
    coalesce(customers.customer_name, offices.office_name) AS customer_name,
    customers.start_month,
    customers.is_active,
    customers.is_active AND customers.refused_reports IS NULL AS is_refreshed,
    customers.refused_reports,
    customers.region,
    coalesce(office_count, 0) AS office_count,
    own_offices.office_id AS own_office_id,
    office_lists.offices,
    loaded_months.first_month,
    loaded_months.last_month,
    stale_offices.offices AS not_refreshed_offices
FROM staging.customers AS customers
LEFT JOIN marts.offices AS offices ON offices.office_id = customers.customer_id
LEFT JOIN staging.offices_asked AS own_offices ON own_offices.customer_id = customers.customer_id
LEFT JOIN office_lists ON office_lists.customer_id = customers.customer_id
LEFT JOIN loaded_months ON loaded_months.customer_id = customers.customer_id
LEFT JOIN stale_offices ON stale_offices.customer_id = customers.customer_id
ORDER BY customers.customer_id
