-- What did each office earn and do, month by month?
-- One row per office and month for which the office report, the running commissions or the leads are loaded.
-- A number is null in three cases: its report is not loaded; the office's rows lack the number; or the office has no
-- row, and rows of the month could not be loaded. Otherwise an office without a row in the report has zero.
-- Averages and percentages are computed from sums. Compute them in the same way over several months:
-- sum(sold_commission) / sum(sold_estate_parts).
-- An open month will still grow. If is_commission_complete is false, the commission is null or may be too low: do not
-- compare such a month.
-- Key: office_id, month
-- Columns:
--   month: first day of the month
--   office_id: customer id of the office
--   office_name: name of the office
--   commission: commission from sales, valuations and writing assignments together, by share; currency not documented,
--     tax basis as declared in marts.tax_basis
--   sold_average_commission: average commission of a sale, computed from sums; currency and tax basis as for
--     commission; null without a sale; never average it or add it up: compute sum(sold_commission) /
--     sum(sold_estate_parts)
--   average_price: average price of a home sold, computed from sums; currency not documented; null without a
--     sale; never average it or add it up: compute sum(sold_total_price) / sum(sold_estate_parts)
--   sold_commission_percentage: commission from sales in percent of the prices, computed from sums; null without a sale
--   running_commission_sek_excl_vat: commissions earned in steps, without VAT, in SEK; never add it to
--     commission: it is not documented whether one contains the other
--   incoming_lead_count: leads received
--   outgoing_lead_count: leads sent out
--   tip_count: tips sent by colleagues of the office
--   removed_lead_count: leads and tips of all three kinds that the service lists as removed; in no other count
--   active_agent_count: users of the office with is_active in marts.user_office_month, with or without commission in the
--     month. Null in two cases: the user report is not loaded; or rows of it could not be loaded, and
--     marts.user_month has no user of the office in the month
--   commission_per_active_agent: commission of the office per active agent; null without an active agent
--   began_month: first month in which the office had commission, a sale, a writing assignment, a valuation or an
--     active agent. Null in two cases: there is no such month; or no earlier month is loaded, so that the office may
--     have begun before
--   last_active_month: last month in which the office had commission, a sale, a writing assignment, a valuation or an
--     active agent, or in which its activity is unknown
--   closed_after_month: last_active_month of an office that has closed; null for all others. An office has closed if
--     its latest month that is over and completely loaded is at least three months after last_active_month
--   is_open: whether the month is not over, or its end has not been requested yet
--   is_commission_complete: whether the office report is loaded to the end of the month, or to now while the month is
--     open. False if the report is not loaded, if it lacks the office's row or its amount, or if the month has ended
--     since it was read
--   is_refreshed: whether each loaded report of the month is still requested, or was last read at least a year after
--     the month began, when it hardly changes any more. False if one of the reports could have changed since
--   read_at_utc: when the service gave the oldest of the answers that the row is made of
--   _customer: the customer whose office report counts; for the other reports see marts.office_sources
--   _month: first day of the month of the office report of _customer
--   _load_id: load of the office report of _customer; joins meta.loads
WITH loaded_months AS (
    SELECT
        office_id,
        month,
        bool_or(report = 'commission_office') AS has_commission,
        bool_or(report = 'running_commissions') AS has_running,
        bool_or(report = 'tips_and_leads') AS has_leads,
        bool_or(is_growing) AS is_open,
        coalesce(bool_and(NOT is_partial) FILTER (report = 'commission_office'), false) AS is_commission_complete,
        coalesce(bool_or(lacks_rows OR lacks_amount) FILTER (report = 'commission_office'), false) AS lacks_commission,
        coalesce(bool_or(lacks_rows) FILTER (report = 'running_commissions'), false) AS lacks_running,
        coalesce(bool_or(lacks_rows) FILTER (report = 'tips_and_leads'), false) AS lacks_leads,
        bool_and(is_current) AS is_refreshed,
        min(fetched_at_utc) AS read_at_utc,
        any_value(customer_id) FILTER (report = 'commission_office') AS customer_id,
        any_value(load_id) FILTER (report = 'commission_office') AS load_id
    FROM marts.office_sources
    WHERE report IN ('commission_office', 'running_commissions', 'tips_and_leads')
    GROUP BY ALL
),

running_summed AS (
    SELECT office_id, month, sum_if_known(amount_sek_excl_vat)::DECIMAL(18, 4) AS amount
    FROM marts.running_commissions
    GROUP BY ALL
),

leads_counted AS (
    SELECT
        office_id,
        month,
        count(*) FILTER (way = 'incoming lead' AND NOT is_removed) AS incoming,
        count(*) FILTER (way = 'outgoing lead' AND NOT is_removed) AS outgoing,
        count(*) FILTER (way = 'tip' AND NOT is_removed) AS tips,
        count(*) FILTER (is_removed) AS removed
    FROM marts.leads
    GROUP BY ALL
),

agents_counted AS (
    SELECT office_id, month, count(*) FILTER (is_active) AS active
    FROM marts.user_office_month
    GROUP BY ALL
)

SELECT
    months.month,
    months.office_id,
    offices.office_name,
    unnest(totals_of_commission(months.has_commission, earned.office_id IS NOT NULL, months.lacks_commission, earned)),
    total_if_loaded(months.has_running, running_summed.office_id IS NOT NULL, months.lacks_running, running_summed.amount)
        AS running_commission_sek_excl_vat,
    unnest(totals_of_leads(months.has_leads, leads_counted.office_id IS NOT NULL, months.lacks_leads, leads_counted)),
    total_if_loaded(user_report.month IS NOT NULL, agents_counted.office_id IS NOT NULL, user_report.lacks_rows, agents_counted.active)
        AS active_agent_count,
    (
        total_if_loaded(months.has_commission, earned.office_id IS NOT NULL, months.lacks_commission, earned.commission)
        / nullif(active_agent_count, 0)
    )::DECIMAL(18, 4) AS commission_per_active_agent,
    nullif(
        min(months.month) FILTER (
            earned.commission <> 0
            OR earned.sold_estate_parts <> 0
            OR earned.writing_parts <> 0
            OR earned.valuation_parts <> 0
            OR agents_counted.active > 0
        ) OVER of_office,
        min(months.month) FILTER (months.has_commission) OVER of_office
    ) AS began_month,
    max(months.month) FILTER (
        earned.commission <> 0
        OR earned.sold_estate_parts <> 0
        OR earned.writing_parts <> 0
        OR earned.valuation_parts <> 0
        OR agents_counted.active > 0
        OR user_report.month IS NULL
        OR NOT months.has_commission
        OR (earned.office_id IS NULL AND months.lacks_commission)
    ) OVER of_office AS last_active_month,
    CASE
        WHEN is_without_trace(
            last_active_month,
            max(months.month) FILTER (months.is_commission_complete AND NOT months.is_open) OVER of_office
        ) THEN last_active_month
    END AS closed_after_month,
    months.is_open,
    months.is_commission_complete,
    months.is_refreshed,
    months.read_at_utc,
    months.customer_id AS _customer,
    CASE WHEN months.has_commission THEN months.month END AS _month,
    months.load_id AS _load_id
FROM loaded_months AS months
LEFT JOIN marts.offices AS offices USING (office_id)
LEFT JOIN staging.commission_office AS earned
    ON earned.office_id = months.office_id AND earned.month = months.month AND earned.customer_id = months.customer_id
LEFT JOIN running_summed ON running_summed.office_id = months.office_id AND running_summed.month = months.month
LEFT JOIN leads_counted ON leads_counted.office_id = months.office_id AND leads_counted.month = months.month
LEFT JOIN agents_counted ON agents_counted.office_id = months.office_id AND agents_counted.month = months.month
LEFT JOIN (FROM marts.office_sources WHERE report = 'commission_user') AS user_report
    ON (user_report.office_id, user_report.month) = (months.office_id, months.month)
WINDOW of_office AS (PARTITION BY months.office_id)
ORDER BY months.month, months.office_id
