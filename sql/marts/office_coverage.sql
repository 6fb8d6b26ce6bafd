-- For which offices should a month be loaded, and is it?
-- One row per office and month that should be loaded, whether it is loaded or not. Only months that are loaded for any
-- office are here.
-- While a customer that answers for an office is requested, the office is expected in all these months, from the first
-- month of the settings on. Otherwise the office is expected from its first to its last loaded month.
-- A customer that was never read has rows of its own, because its offices are not known yet.
-- The mart covers the office report, the running commissions and the leads, each only if any month of it is loaded.
-- A report of a month counts as not loaded in three cases:
-- 1. It was last read before the month was over, and the month is over now or no longer requested.
-- 2. A row of it could not be loaded. The exception is the office report, if the office's own row was loaded.
-- 3. The office report lacks the office's amount, see lacks_amount in marts.office_sources.
-- Key: office_id, month
-- Columns:
--   month: first day of the month
--   office_id: customer id of the office, or of a customer whose offices are not known yet
--   office_name: name of the office
--   region: region of the office in the settings, or of the customer whose offices are not known yet; null if none is
--     given
--   is_commission_held: whether the office report is loaded to the end of the month, or to now while the month is open.
--     False if the report lacks the office's row or its amount
--   missing_reports: which of commission, running commission and leads count as not loaded. For a report that is
--     loaded in part, it states what is missing: the rest of the month after a day (in UTC), rows or the amount. Null
--     if none is missing
--   is_held: whether missing_reports is null
--   is_refreshed: whether each loaded report of the month is still requested, or was last read at least a year after
--     the month began, when it hardly changes any more. False if one of the reports could have changed since. Null if
--     nothing is loaded
WITH loaded_months AS (
    SELECT office_id, month, report, fetched_at_utc, is_cut_short, is_unfinished, lacks_amount, is_partial, is_current
    FROM marts.office_sources
    WHERE report IN ('commission_office', 'running_commissions', 'tips_and_leads')
    UNION ALL
    SELECT
        months.customer_id, months.month, months.report, months.fetched_at_utc, months.is_cut_short, months.is_unfinished,
        false, months.is_partial, months.is_current
    FROM staging.months AS months
    WHERE months.report IN ('commission_office', 'running_commissions', 'tips_and_leads')
        AND months.customer_id NOT IN (SELECT customer_id FROM staging.customer_offices)
),

loaded_reports AS (
    SELECT
        bool_or(report = 'commission_office') AS has_commission,
        bool_or(report = 'running_commissions') AS has_running,
        bool_or(report = 'tips_and_leads') AS has_leads
    FROM loaded_months
),

office_customers AS (
    SELECT customer_id, office_id FROM staging.customer_offices
    UNION
    SELECT customer_id, customer_id
    FROM staging.customers
    WHERE is_active AND customer_id NOT IN (SELECT customer_id FROM staging.customer_offices)
),

requested_offices AS (
    SELECT
        office_customers.office_id,
        bool_or(coalesce(customers.is_active, true)) AS is_requested,
        min(customers.start_month) FILTER (customers.is_active) AS start_month
    FROM office_customers
    LEFT JOIN staging.customers AS customers USING (customer_id)
    GROUP BY ALL
),

spans AS (
    SELECT
        requested_offices.office_id,
        CASE WHEN is_requested THEN coalesce(start_month, DATE '0001-01-01') ELSE min(loaded_months.month) END AS first_month,
        CASE WHEN is_requested THEN DATE '9999-12-01' ELSE max(loaded_months.month) END AS last_month
    FROM requested_offices
    LEFT JOIN loaded_months USING (office_id)
    GROUP BY requested_offices.office_id, is_requested, start_month
),

expected_months AS (
    SELECT spans.office_id, months.month
    FROM spans
    INNER JOIN (SELECT DISTINCT month FROM loaded_months) AS months ON months.month BETWEEN spans.first_month AND spans.last_month
),

loaded_by_month AS (
    SELECT
        office_id,
        month,
        bool_or(report = 'commission_office') AS has_commission,
        bool_or(report = 'running_commissions') AS has_running,
        bool_or(report = 'tips_and_leads') AS has_leads,
        coalesce(bool_or(is_partial) FILTER (report = 'commission_office'), false) AS is_commission_partial,
        string_agg(
            CASE report
                WHEN 'commission_office' THEN 'commission'
                WHEN 'running_commissions' THEN 'running commission'
                ELSE 'leads'
            END || CASE
                WHEN lacks_rest(is_cut_short, is_unfinished)
                    THEN strftime(greatest(local_day(fetched_at_utc), month), ' read only to %-d %B %Y')
                WHEN lacks_amount THEN ' without an amount'
                ELSE ' incomplete: rows in quarantine'
            END, ', '
            ORDER BY report
        ) FILTER (is_partial) AS partial_reports,
        bool_and(is_current) AS is_refreshed
    FROM loaded_months
    GROUP BY ALL
)

SELECT
    expected_months.month,
    expected_months.office_id,
    offices.office_name,
    offices.brand,
    coalesce(offices.region, customers.region) AS region,
    coalesce(loaded_months.has_commission AND NOT loaded_months.is_commission_partial, false) AS is_commission_held,
    nullif(concat_ws(
        ', ',
        CASE WHEN loaded_reports.has_commission AND loaded_months.has_commission IS NOT TRUE THEN 'commission' END,
        CASE WHEN loaded_reports.has_running AND loaded_months.has_running IS NOT TRUE THEN 'running commission' END,
        CASE WHEN loaded_reports.has_leads AND loaded_months.has_leads IS NOT TRUE THEN 'leads' END,
        loaded_months.partial_reports
    ), '') AS missing_reports,
    missing_reports IS NULL AS is_held,
    loaded_months.is_refreshed
FROM expected_months
CROSS JOIN loaded_reports
LEFT JOIN loaded_by_month AS loaded_months ON loaded_months.office_id = expected_months.office_id AND loaded_months.month = expected_months.month
LEFT JOIN marts.offices AS offices ON offices.office_id = expected_months.office_id
LEFT JOIN staging.customers AS customers ON customers.customer_id = expected_months.office_id
ORDER BY expected_months.month, expected_months.office_id
