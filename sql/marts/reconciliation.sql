-- Do the reports agree, and if not, why?
-- One row per office, month, comparison and measure, if either of the two reports is loaded.
-- The office report is compared with the by-month report, the user report and the agents' shares in the sales list.
-- Within the sales list, the whole commissions are compared with these shares.
-- Users count at their office in marts.user_month, or in marts.users_added_up if several answers are added up. A share
-- counts at the agent's own office, so that a sale shared between offices agrees.
-- A single sale that one report lacks makes a difference in several rows: marts.disagreements has one row for it.
-- Key: month, office_id, compared, measure
-- Columns:
--   month: first day of the month
--   office_id: customer id of the office
--   office_name: name of the office
--   measure: commission, sold commission (from sales alone), sold estate parts or sold total price
--   compared: by-month report, user report or sales list, which are compared with the office report; or shares of
--     agents, which are compared with the whole commissions in the sales list
--   amount: the amount in the office report; for shares of agents, the whole commission in the sales list; null if not
--     known
--   compared_amount: the amount in the other report; for shares of agents, their sum; null if not known
--   difference: compared_amount less amount
--   tolerance: how far amount and compared_amount may differ by rounding alone
--   is_reconciled: whether amount and compared_amount differ by no more than tolerance. Null if one of them is null,
--     but false if the report without the amount should have it: the service may have answered while it recomputed.
--     This needs three things: just one amount is null; both reports are loaded and lack no rows; and the report
--     without the amount has the measure, other than 0, for another office or month
--   read_at_utc: when the service gave the office report, in UTC; for shares of agents, the sales list
--   compared_read_at_utc: when the service gave the other report, in UTC. For the sales list, it is the latest of the
--     office's answer and the answers with a share of the office, because other customers' answers may have some
--   likely_reason: why the amounts may differ or cannot be compared; null if they agree. "Restated" means that the
--     report read later is known to have changed after the day of the earlier reading. Different days are not given as
--     the reason if the office report was read later but had the same total on the earlier day
--   _customer: the customer whose office report counts
--   _month: first day of the month of the office report of _customer
WITH loaded_months AS (
    SELECT
        office_id,
        month,
        any_value(customer_id) FILTER (report = 'commission_office') AS customer_id,
        bool_or(report = 'commission_office') AS has_office,
        bool_or(report = 'commission_office_by_month') AS has_by_month,
        bool_or(report = 'commission_user') AS has_users,
        bool_or(report = 'sales') AS has_sales,
        any_value(fetched_at_utc) FILTER (report = 'commission_office') AS office_read_at_utc,
        any_value(fetched_at_utc) FILTER (report = 'commission_office_by_month') AS by_month_read_at_utc,
        any_value(fetched_at_utc) FILTER (report = 'commission_user') AS users_read_at_utc,
        any_value(fetched_at_utc) FILTER (report = 'sales') AS sales_read_at_utc,
        coalesce(list(report) FILTER (lacks_rows), []) AS reports_lacking,
        min(customer_id || ': ' || source_state) FILTER (NOT is_refreshed AND report <> 'commission_user')
            AS not_refreshed
    FROM marts.office_sources
    WHERE report IN ('commission_office', 'commission_office_by_month', 'commission_user', 'sales')
    GROUP BY ALL
),

by_month_report AS (
    FROM staging.commission_office_by_month
    SEMI JOIN (FROM marts.office_sources WHERE report = 'commission_office_by_month') USING (office_id, month, customer_id)
),

users_placed AS (
    SELECT office_id, month, commission, sold_estate_parts, sold_total_price, office_basis <> 'this month' AS is_derived
    FROM marts.user_month
    ANTI JOIN marts.users_added_up USING (user_id, month)
    UNION ALL
    SELECT
        coalesce(user_amounts.office_id, users.office_id), month, user_amounts.commission, user_amounts.sold_estate_parts,
        user_amounts.sold_total_price, own_offices.office_id IS NULL
    FROM (SELECT user_id, month, unnest(amounts) AS user_amounts FROM marts.users_added_up)
    INNER JOIN marts.user_month AS users USING (user_id, month)
    LEFT JOIN staging.offices_asked AS own_offices ON own_offices.customer_id = user_amounts.customer_id
),

users_summed AS (
    SELECT
        office_id,
        month,
        count(*) AS user_count,
        sum(commission) AS commission,
        sum(sold_estate_parts) AS sold_estate_parts,
        sum(sold_total_price) AS sold_total_price,
        bool_or(is_derived) AS is_derived
    FROM users_placed
    GROUP BY ALL
),

users_read AS (
    SELECT
        users.office_id,
        users.month,
        list(DISTINCT local_day(sources.fetched_at_utc)) AS read_on,
        min(sources.customer_id || ': ' || sources.source_state) FILTER (NOT sources.is_refreshed) AS not_refreshed
    FROM marts.user_sources AS sources
    INNER JOIN marts.user_month AS users USING (user_id, month)
    GROUP BY ALL
),

shares_summed AS (
    SELECT
        shares.user_office_id AS office_id,
        shares.month,
        count(*) AS share_count,
        sum(shares.commission) AS commission,
        sum(shares.commission_share) AS sold_estate_parts,
        sum(shares.final_price_part) AS sold_total_price,
        max(answers.fetched_at_utc) AS read_at_utc
    FROM marts.sale_shares AS shares
    INNER JOIN staging.months AS answers
        ON answers.report = 'sales' AND answers.customer_id = shares._customer AND answers.month = shares._month
    GROUP BY ALL
),

sales_summed AS (
    SELECT
        office_id,
        month,
        count(*) AS sale_count,
        sum(commission) AS commission,
        sum(agent_commission) AS agent_commission,
        coalesce(bool_or(agent_count = 0), false) AS is_without_agents
    FROM marts.sales
    GROUP BY ALL
),

shared_with_unloaded AS (  -- months of offices that sell with one whose list is not loaded and may have their shares
    SELECT DISTINCT pairs.office_id, loaded_months.month
    FROM (SELECT DISTINCT office_id, user_office_id FROM marts.sale_shares WHERE is_cross_office) AS pairs
    INNER JOIN loaded_months USING (office_id)
    ANTI JOIN marts.office_sources AS sources
        ON sources.report = 'sales' AND sources.office_id = pairs.user_office_id AND sources.month = loaded_months.month
),

sales_left_out AS (  -- at the offices at which their shares would count
    SELECT DISTINCT coalesce(agents.user_office_id, estates.office_id) AS office_id, estates.month
    FROM marts.ambiguous_estates AS estates
    LEFT JOIN staging.sales_agents AS agents ON agents.landed_estate = estates._row
),

totals_dated AS (  -- when the total of a month was first read, and when it last changed
    SELECT
        report,
        office_id,
        month,
        min(valid_from_utc) AS known_since_utc,
        max(valid_from_utc) FILTER (is_change) AS changed_at_utc
    FROM (
        SELECT *, version > 1 AND (row_count, commission, price, estate_parts) IS DISTINCT FROM
            lag((row_count, commission, price, estate_parts)) OVER (
                PARTITION BY report, office_id, month ORDER BY version
            ) AS is_change
        FROM marts.month_total_versions
    )
    GROUP BY ALL
),

quarantines AS (
    SELECT sources.office_id, sources.month, list(DISTINCT sources.report) AS reports
    FROM staging.quarantine AS quarantine
    INNER JOIN marts.office_sources AS sources
        ON (sources.customer_id, sources.report) = (quarantine.customer_id, quarantine.report)
        AND sources.month = coalesce(quarantine.month, sources.month)
    GROUP BY ALL
),

side_by_side AS (
    SELECT
        loaded_months.month,
        loaded_months.office_id,
        offices.office_name,
        loaded_months.customer_id,
        coalesce(quarantines.reports, []) AS reports_quarantined,
        loaded_months.reports_lacking,
        greatest(loaded_months.sales_read_at_utc, shares.read_at_utc) AS shares_read_at_utc,
        loaded_months.not_refreshed,
        loaded_months.office_read_at_utc,
        loaded_months.by_month_read_at_utc,
        loaded_months.users_read_at_utc,
        loaded_months.sales_read_at_utc,
        users_read.not_refreshed AS users_not_refreshed,
        coalesce(len(users_read.read_on) > 1, false) AS is_user_report_of_several_days,
        office_known.known_since_utc AS office_known_since_utc,
        office_known.changed_at_utc AS office_changed_at_utc,
        sales_known.changed_at_utc AS sales_changed_at_utc,
        shared_with_unloaded.office_id IS NOT NULL AS is_shared_with_unloaded,
        sales_left_out.office_id IS NOT NULL AS is_left_out,
        coalesce(sales.is_without_agents, false) AS is_without_agents,
        coalesce(users.is_derived, false) AS is_derived,
        amount_of(amount_name, office.commission, office.sold_total_price, office.sold_estate_parts) AS office_amount,
        amount_of(amount_name, by_month.commission, by_month.sold_total_price, by_month.sold_estate_parts) AS by_month_amount,
        replace(amount_name, '_', ' ') AS name,
        unnest([
            {
                compared: 'by-month report', measure: name, has_first: has_office,
                has_second: has_by_month AND (by_month.customer_id IS NULL OR by_month_amount IS NOT NULL),
                tolerance: rounding, amount: office_amount,
                compared_amount: total_of(by_month.customer_id IS NOT NULL, by_month_amount)
            },
            {
                compared: 'user report', measure: name, has_first: has_office, has_second: has_users,
                tolerance: rounding * (1 + coalesce(users.user_count, 0)),
                amount: office_amount,
                compared_amount: total_of(
                    users.user_count > 0,
                    amount_of(amount_name, users.commission, users.sold_total_price, users.sold_estate_parts)
                )
            },
            {
                compared: 'sales list', measure: CASE name WHEN 'commission' THEN 'sold commission' ELSE name END,
                has_first: has_office, has_second: has_sales,
                tolerance: CASE
                    WHEN amount_name = 'sold_total_price' THEN rounding + 0.00005 * coalesce(shares.sold_total_price, 0)
                    ELSE rounding * (1 + coalesce(shares.share_count, 0))
                END + CASE
                    WHEN amount_name <> 'commission' OR (office.writing_parts = 0 AND office.valuation_parts = 0) THEN 0
                    ELSE 0.005 * office.sold_estate_parts
                END,
                amount: amount_of(
                    amount_name, office.sold_commission, office.sold_total_price, office.sold_estate_parts
                ),
                compared_amount: total_of(
                    shares.share_count > 0,
                    amount_of(amount_name, shares.commission, shares.sold_total_price, shares.sold_estate_parts)
                )
            },
            {
                compared: 'shares of agents', measure: CASE name WHEN 'commission' THEN 'sold commission' END,
                has_first: has_sales, has_second: has_sales,
                tolerance: rounding * (1 + coalesce(shares.share_count, 0)),
                amount: total_of(sales.sale_count > 0, sales.commission),
                compared_amount: total_of(sales.sale_count > 0, sales.agent_commission)
            }
        ], recursive := true)
    FROM loaded_months
    CROSS JOIN (
        VALUES ('commission', 0.01), ('sold_estate_parts', 0.00005), ('sold_total_price', 0.005)
    ) AS measures(amount_name, rounding)
    INNER JOIN marts.offices AS offices USING (office_id)
    LEFT JOIN marts.office_month AS office USING (office_id, month)
    LEFT JOIN by_month_report AS by_month USING (office_id, month)
    LEFT JOIN users_summed AS users USING (office_id, month)
    LEFT JOIN users_read USING (office_id, month)
    LEFT JOIN shares_summed AS shares USING (office_id, month)
    LEFT JOIN sales_summed AS sales USING (office_id, month)
    LEFT JOIN shared_with_unloaded USING (office_id, month)
    LEFT JOIN sales_left_out USING (office_id, month)
    LEFT JOIN (FROM totals_dated WHERE report = 'commission_office') AS office_known USING (office_id, month)
    LEFT JOIN (FROM totals_dated WHERE report = 'sales') AS sales_known USING (office_id, month)
    LEFT JOIN quarantines USING (office_id, month)
),

comparisons AS (
    SELECT
        * EXCLUDE (amount, compared_amount, tolerance),
        CASE compared
            WHEN 'by-month report' THEN ['commission_office', 'commission_office_by_month']
            WHEN 'user report' THEN ['commission_office', 'commission_user']
            WHEN 'sales list' THEN ['commission_office', 'sales']
            ELSE ['sales']
        END AS reports_compared,
        list_has_any(reports_quarantined, reports_compared) AS has_quarantine,
        CASE WHEN has_first THEN amount END::DECIMAL(18, 4) AS amount,
        CASE WHEN has_second THEN compared_amount END::DECIMAL(18, 4) AS compared_amount,
        tolerance::DECIMAL(18, 4) AS tolerance,
        CASE compared WHEN 'shares of agents' THEN sales_read_at_utc ELSE office_read_at_utc END AS read_at_utc,
        CASE compared
            WHEN 'by-month report' THEN by_month_read_at_utc
            WHEN 'user report' THEN users_read_at_utc
            WHEN 'sales list' THEN shares_read_at_utc
            ELSE sales_read_at_utc
        END AS compared_read_at_utc,
        CASE
            WHEN read_at_utc < compared_read_at_utc THEN ['office report', compared]
            ELSE [compared, 'office report']
        END AS in_order_of_reading,
        greatest(read_at_utc, compared_read_at_utc) AS later_read_at_utc,
        later_read_at_utc - least(read_at_utc, compared_read_at_utc) > INTERVAL 2 DAY AS is_over_two_days_apart,
        local_day(read_at_utc) <> local_day(compared_read_at_utc) AS is_other_day,
        is_other_day OR (compared = 'user report' AND is_user_report_of_several_days) AS is_read_apart,
        local_day(least(read_at_utc, compared_read_at_utc)) AS earlier_read_on,
        coalesce(
            local_day(CASE in_order_of_reading[2]
                WHEN 'office report' THEN office_changed_at_utc
                WHEN 'sales list' THEN sales_changed_at_utc
            END) > earlier_read_on,
            false
        ) AS is_restated,
        -- the office report, read later, had this total on the earlier day too, so the difference existed then
        NOT is_restated AND in_order_of_reading[2] = 'office report' AND coalesce(
            local_day(office_known_since_utc) <= earlier_read_on, false
        ) AS had_this_total
    FROM side_by_side
    WHERE measure IS NOT NULL AND (has_first OR has_second)
),

comparisons_judged AS (
    SELECT
        *,
        compared <> 'shares of agents' AND has_first AND has_second
            AND NOT has_quarantine AND NOT list_has_any(reports_lacking, reports_compared)
            AND (
                (amount IS NULL AND compared_amount IS NOT NULL AND count(nullif(amount, 0)) OVER of_measure > 0)
                OR (
                    compared_amount IS NULL AND amount IS NOT NULL
                    AND count(nullif(compared_amount, 0)) OVER of_measure > 0
                )
            ) AS is_amount_missing,
        CASE
            WHEN is_amount_missing THEN false
            ELSE abs(compared_amount - amount) <= tolerance
        END AS is_reconciled
    FROM comparisons
    WINDOW of_measure AS (PARTITION BY compared, measure)
)

SELECT
    month,
    office_id,
    office_name,
    compared,
    measure,
    amount,
    compared_amount,
    (compared_amount - amount)::DECIMAL(18, 4) AS difference,
    tolerance,
    is_reconciled,
    read_at_utc,
    compared_read_at_utc,
    CASE
        WHEN NOT has_first THEN 'month not loaded in the office report'
        WHEN NOT has_second THEN 'month not loaded in the other report, or not in the assumed shape'
        WHEN is_amount_missing
            THEN 'the ' || CASE WHEN amount IS NULL THEN 'office report' ELSE compared END
            || ' has no row with the amount'
        WHEN is_reconciled THEN NULL
        WHEN has_quarantine THEN 'rows in quarantine'
        WHEN amount IS NULL OR compared_amount IS NULL THEN 'no row of the answer has the amount'
        WHEN compared = 'sales list' AND is_left_out THEN 'a sale is left out, because another home has its estate id'
        WHEN not_refreshed IS NOT NULL AND is_read_apart
            THEN 'an answer that is no longer refreshed: ' || not_refreshed
        WHEN compared = 'user report' AND users_not_refreshed IS NOT NULL AND is_read_apart
            THEN 'an answer that is no longer refreshed: ' || users_not_refreshed
        WHEN is_other_day AND NOT had_this_total
            THEN CASE WHEN is_restated THEN 'restated between two readings' ELSE 'read on different days' END
            || ': the ' || in_order_of_reading[2] || ' was read later, on '
            || local_day(later_read_at_utc)
            || CASE
                WHEN is_over_two_days_apart AND rereading.changed_months > 0
                    THEN '; the ' || in_order_of_reading[1] || ' is requested again by the next nightly run'
                ELSE ''
            END
        WHEN compared = 'user report' AND is_user_report_of_several_days THEN 'read on different days: the user reports of several customers'
        WHEN compared IN ('sales list', 'shares of agents') AND is_without_agents THEN 'sale listed without agents'
        WHEN compared = 'sales list' AND compared_amount < amount AND is_shared_with_unloaded
            THEN 'sale shared with an office whose sales are not loaded'
        WHEN compared = 'user report' AND is_derived THEN 'user counted at another office: offices are derived'
        ELSE 'not explained'
    END AS likely_reason,
    customer_id AS _customer,
    month AS _month
FROM comparisons_judged
CROSS JOIN staging.rereading AS rereading
ORDER BY month, office_id, compared, measure
