-- What did each user earn and do, month by month?
-- One row per user and loaded month, from the first month in which a report has a row or a budget of the user. The row
-- is at one office, and has the sum of all answers that count (marts.user_sources).
-- A number is null in three cases: its report is not loaded; the user's rows lack the number; or the user has no row,
-- and rows of the month could not be loaded. Otherwise a user without a row in the report has zero.
-- Users who left still have rows, because later bookings count: for averages per agent and for headcounts, use the
-- rows with is_active.
-- Leads that name no user are only in marts.office_month.
-- Key: user_id, month
-- Columns:
--   sold_average_commission: average commission of a sale, computed from sums; currency and tax basis as for
--     commission; null without a sale; never average it or add it up: compute sum(sold_commission) /
--     sum(sold_estate_parts)
--   average_price: average price of a home sold, computed from sums; currency not documented; null without a
--     sale; never average it or add it up: compute sum(sold_total_price) / sum(sold_estate_parts)
--   sold_commission_percentage: commission from sales in percent of the prices, computed from sums; null without a sale
--   month: first day of the month
--   user_id: id of the user
--   user_name: name of the user; two users may have the same name: group by user_id, and show user_label
--   office_name: name of the office
--   commission: commission from sales, valuations and writing assignments together, by share; currency not documented,
--     tax basis as declared in marts.tax_basis
--   office_id: customer id of the user's office; derived, see office_basis
--   office_basis: where office_id comes from, because the user report does not state the office: evidence of this
--     month, else of an earlier month, else of a later month. Without any evidence it is "customer asked": the
--     requested customer, if that is an office
--   running_commission_sek_excl_vat: commissions earned in steps, without VAT, in SEK; never add it to
--     commission: it is not documented whether one contains the other
--   incoming_lead_count: leads that name the user as receiver
--   outgoing_lead_count: outgoing leads that concern the user
--   tip_count: tips sent by the user
--   removed_lead_count: leads and tips of all three kinds that the service lists as removed; in no other count
--   first_active_month: first month in which the user had commission, a sale, a writing assignment, a
--     valuation or a lead, or sent a tip; null if there is none
--   last_active_month: last month in which the user had commission, a sale, a writing assignment, a valuation or a
--     lead, or sent a tip; null if there is none
--   is_active: whether the user had commission, a sale, a writing assignment, a valuation or a lead, or sent a tip, in
--     the month. Budgets do not count. Running commissions count only if the user is in no user report and the
--     customer has none loaded for the month
--   is_open: whether the month is not over, or its end has not been requested yet in the user report
--   is_commission_complete: whether the user report is loaded to the end of the month, or to now while the month is
--     open. False if it is not loaded; if the month has ended since an answer that counts was read; if rows are
--     missing and the user has none; if the user's row lacks the amount; or if the office left a group and no other
--     customer has answered for it since
--   _customer: the customers whose user reports count, by id
--   _month: first day of the month of the user reports of _customer
WITH earned AS (
    SELECT totals.*, sources.is_partial
    FROM staging.commission_user AS totals
    INNER JOIN marts.user_sources AS sources USING (user_id, month, customer_id)
),

earned_summed AS (
    SELECT
        user_id,
        month,
        sum(commission)::DECIMAL(18, 4) AS commission,
        sum(sold_commission)::DECIMAL(18, 4) AS sold_commission,
        sum(sold_total_price)::DECIMAL(18, 4) AS sold_total_price,
        sum(sold_estate_parts)::DECIMAL(19, 8) AS sold_estate_parts,
        sum(writing_parts)::DECIMAL(19, 8) AS writing_parts,
        sum(valuation_parts)::DECIMAL(19, 8) AS valuation_parts,
        bool_or(is_partial) AS is_partial,
        string_agg(customer_id, ', ' ORDER BY customer_id) AS customers
    FROM earned
    GROUP BY ALL
),

running_summed AS (
    SELECT user_id, month, sum_if_known(amount_sek_excl_vat)::DECIMAL(18, 4) AS amount
    FROM marts.running_commissions
    GROUP BY ALL
),

leads_counted AS (
    SELECT
        user_id,
        month,
        count(*) FILTER (way = 'incoming lead' AND NOT is_removed) AS incoming,
        count(*) FILTER (way = 'outgoing lead' AND NOT is_removed) AS outgoing,
        count(*) FILTER (way = 'tip' AND NOT is_removed) AS tips,
        count(*) FILTER (is_removed) AS removed
    FROM marts.leads
    GROUP BY ALL
),

traces AS (
    SELECT customer_id, user_id, min(month) AS first_month FROM staging.commission_user GROUP BY ALL
    UNION ALL
    SELECT _customer, user_id, min(month) FROM marts.running_commissions GROUP BY ALL
    UNION ALL
    -- a tip may come from an answer that does not count for the office
    SELECT coalesce(customer_id, _customer), user_id, min(month) FROM marts.leads
    LEFT JOIN (FROM marts.office_sources WHERE report = 'tips_and_leads') AS sources USING (office_id, month) GROUP BY ALL
    UNION ALL
    SELECT _customer, user_id, min(month) FROM marts.sale_shares GROUP BY ALL
    UNION ALL
    SELECT _customer, user_id, min(month) FROM marts.budgets SEMI JOIN staging.user_names USING (user_id) WHERE amount <> 0 GROUP BY ALL
),

active_months AS (
    SELECT user_id, month
    FROM staging.commission_user
    WHERE greatest(commission, sold_estate_parts, writing_parts, valuation_parts) > 0
    UNION
    SELECT running.user_id, running.month
    FROM marts.running_commissions AS running
    ANTI JOIN staging.commission_user AS earners ON earners.user_id = running.user_id
    ANTI JOIN staging.months AS loaded_months
        ON loaded_months.report = 'commission_user' AND loaded_months.customer_id = running._customer AND loaded_months.month = running.month
    UNION
    SELECT user_id, month FROM marts.leads WHERE NOT is_removed
    UNION
    SELECT user_id, month FROM marts.sale_shares
),

users_active AS (
    SELECT user_id, min(month) AS first_month, max(month) AS last_month
    FROM active_months
    GROUP BY ALL
),

users_of_customers AS (
    SELECT customer_id, user_id, min(first_month) AS first_month
    FROM traces
    WHERE user_id IS NOT NULL
    GROUP BY ALL
),

user_months AS (
    SELECT
        users.user_id,
        months.month,
        bool_or(report = 'commission_user') AS has_commission,
        bool_or(report = 'running_commissions') AS has_running,
        bool_or(report = 'tips_and_leads') AS has_leads,
        coalesce(
            bool_or(is_growing) FILTER (report = 'commission_user' AND is_refreshed),
            bool_or(is_growing) FILTER (report = 'commission_user'),
            bool_or(is_growing)
        ) AS is_open,
        coalesce(
            bool_or(is_partial) FILTER (report = 'commission_user' AND is_refreshed),
            bool_or(is_partial) FILTER (report = 'commission_user'),
            bool_or(is_partial)
        ) AS is_partial,
        coalesce(
            bool_or(lacks_rows) FILTER (report = 'commission_user' AND is_refreshed),
            bool_or(lacks_rows) FILTER (report = 'commission_user'),
            false
        ) AS lacks_commission,
        coalesce(bool_or(lacks_rows) FILTER (report = 'running_commissions'), false) AS lacks_running,
        coalesce(bool_or(lacks_rows) FILTER (report = 'tips_and_leads'), false) AS lacks_leads,
        min(users.customer_id) AS customer_id
    FROM users_of_customers AS users
    INNER JOIN staging.months AS months
        ON months.customer_id = users.customer_id AND months.month >= users.first_month
    WHERE report IN ('commission_user', 'running_commissions', 'tips_and_leads')
    GROUP BY ALL
),

offices_carried AS (
    SELECT
        user_months.*,
        at_month.office_id AS office_of_month,
        last_value(at_month.office_id IGNORE NULLS) OVER (
            PARTITION BY user_months.user_id ORDER BY user_months.month ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS office_before,
        first_value(at_month.office_id IGNORE NULLS) OVER (
            PARTITION BY user_months.user_id ORDER BY user_months.month ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        ) AS office_after,
        offices.office_id AS customer_office,
        coalesce(office_before, office_after, customer_office) AS office_id
    FROM user_months
    LEFT JOIN staging.user_offices AS at_month USING (user_id, month)
    LEFT JOIN marts.offices AS offices ON offices.office_id = user_months.customer_id
),

-- Offices that have left a group, in months for which no other customer has answered.
offices_unanswered AS (
    SELECT office_id, month
    FROM staging.office_answers
    WHERE report = 'commission_user'
    GROUP BY ALL
    HAVING bool_or(has_left) AND NOT bool_or(has_entries)
),

months_judged AS (
    SELECT
        carried.* REPLACE (
            is_partial OR unanswered.month IS NOT NULL AS is_partial,
            lacks_commission OR unanswered.month IS NOT NULL AS lacks_commission
        )
    FROM offices_carried AS carried
    LEFT JOIN offices_unanswered AS unanswered USING (office_id, month)
)

SELECT
    months.month,
    months.user_id,
    users.user_name,
    users.user_label,
    months.office_id,
    offices.office_name,
    CASE
        WHEN months.office_of_month IS NOT NULL THEN 'this month'
        WHEN months.office_before IS NOT NULL THEN 'earlier month'
        WHEN months.office_after IS NOT NULL THEN 'later month'
        WHEN months.customer_office IS NOT NULL THEN 'customer asked'
    END AS office_basis,
    unnest(totals_of_commission(months.has_commission, earned_summed.user_id IS NOT NULL, months.lacks_commission, earned_summed)),
    total_if_loaded(months.has_running, running_summed.user_id IS NOT NULL, months.lacks_running, running_summed.amount)
        AS running_commission_sek_excl_vat,
    unnest(totals_of_leads(months.has_leads, leads_counted.user_id IS NOT NULL, months.lacks_leads, leads_counted)),
    users_active.first_month AS first_active_month,
    users_active.last_month AS last_active_month,
    active.user_id IS NOT NULL AS is_active,
    months.is_open,
    months.has_commission AND NOT coalesce(earned_summed.is_partial, months.is_partial) AS is_commission_complete,
    coalesce(earned_summed.customers, months.customer_id) AS _customer,
    months.month AS _month
FROM months_judged AS months
LEFT JOIN staging.user_names AS users USING (user_id)
LEFT JOIN earned_summed ON earned_summed.user_id = months.user_id AND earned_summed.month = months.month
LEFT JOIN running_summed ON running_summed.user_id = months.user_id AND running_summed.month = months.month
LEFT JOIN leads_counted ON leads_counted.user_id = months.user_id AND leads_counted.month = months.month
LEFT JOIN users_active ON users_active.user_id = months.user_id
LEFT JOIN active_months AS active ON active.user_id = months.user_id AND active.month = months.month
LEFT JOIN marts.offices AS offices ON offices.office_id = months.office_id
ORDER BY months.month, months.user_id
