-- Who earned most, in the month, the quarter, the year so far and the last twelve months?
-- One row per office or user, period and last month of the period, if the commission in the period is not zero. A
-- quarter or year runs from its start to the month.
-- Incomplete commissions are ranked too. Equal commissions share a rank.
-- per_active_month_rank is fair to users who joined or left within the period, but one active month may be luck: look
-- at active_month_count as well.
-- Offices and users, and periods that overlap, are in one table: read one earner_kind and one period, and never add up
-- two.
-- A closed office is ranked up to its last month, see marts.office_month.
-- The table is built period by period, which takes two thirds of the time of building all at once. It is ordered by
-- year and office, so that an office or a month is found quickly.
-- For each: SELECT unnest(['month', 'quarter', 'year', 'twelve months']) AS period
-- Key: earner_kind, period, month, earner_id
-- Columns:
--   commission: commission from sales, valuations and writing assignments together, by share; currency not documented,
--     tax basis as declared in marts.tax_basis
--   earner_kind: office or user
--   period: month, quarter, year or twelve months
--   month: first day of the last month of the period
--   earner_id: id of the office or user
--   earner_name: name of the office, or user_label of the user in marts.users
--   office_id: customer id of the office itself, or of the user's office in the last month of the period
--   office_name: name of the office
--   month_count: months of the period for which the office report or, for users, the user report of the earner's
--     office is loaded, with or without the earner
--   active_month_count: months of the period with is_active in marts.user_month; null for offices
--   commission_per_active_month: commission per active month, including what was booked after the user left. Null in
--     two cases: for offices; without an active month
--   per_active_month_rank: rank by commission_per_active_month, 1 for the most; null if that is null
--   is_complete: whether each month of the period is over and loaded to its end, and either has a row of the earner or
--     lacks no rows
--   sold_average_commission: average commission of a sale, computed from sums; currency and tax basis as for
--     commission; null without a sale; never average it or add it up
--   average_price: average price of a home sold, computed from sums; currency not documented; null without a sale
--   sold_commission_percentage: commission from sales in percent of the prices, computed from sums; null without a sale
--   commission_rank: rank by commission, 1 for the most
--   previous_rank: commission_rank a month earlier. Null in three cases: the earner had no rank then; the period is a
--     quarter or a year, and the month is its first; or the month, or one of the eleven before it, is open for any
--     ranked earner of the kind
--   is_new: whether the month is the first in which the earner had commission or work; false if no earlier month is
--     loaded. An earner without previous_rank need not be new
--   rank_change: ranks gained (positive) or lost since a month earlier
--   earner_count: how many earners of the kind are ranked in the period and month
--   to_the_leader: the leader's commission less the earner's
WITH earners AS (
    SELECT
        'office' AS earner_kind, office_id AS earner_id, office_name AS earner_name, office_id, month,
        is_open, is_open OR NOT is_commission_complete AS is_partial, NULL::BOOLEAN AS is_active,
        began_month AS first_month, closed_after_month,
        commission, sold_commission, sold_total_price, sold_estate_parts
    FROM marts.office_month
    WHERE commission IS NOT NULL
    UNION ALL
    SELECT
        'user', user_id, user_label, office_id, month, is_open, is_open OR NOT is_commission_complete, is_active,
        nullif(first_active_month, min(month) OVER ()), NULL,
        commission, sold_commission, sold_total_price, sold_estate_parts
    FROM marts.user_month
    WHERE commission IS NOT NULL
),

earners_with_periods AS (
    SELECT
        earner_kind, earner_id, month, is_open, is_partial, is_active, commission, sold_commission,
        sold_total_price, sold_estate_parts,
        12 * year(month) + month(month) AS month_number,
        CASE getvariable('period')
            WHEN 'month' THEN 0
            WHEN 'quarter' THEN (month(month) - 1) % 3
            WHEN 'year' THEN month(month) - 1
            WHEN 'twelve months' THEN 11
        END AS months_before
    FROM earners
    WHERE coalesce(month <= closed_after_month, true)
),

summed AS (
    SELECT
        earner_kind,
        earner_id,
        month,
        months_before + 1 AS period_month_count,
        count(*) OVER of_earner AS own_month_count,
        CASE WHEN earner_kind = 'user' THEN count(*) FILTER (is_active) OVER of_earner END AS active_month_count,
        bool_or(is_open) OVER of_twelve_months AS was_open,
        bool_or(is_partial) OVER of_earner AS is_partial,
        (sum(commission) OVER of_earner)::DECIMAL(18, 4) AS commission,
        sum(sold_commission) OVER of_earner AS sold_commission,
        (sum(sold_total_price) OVER of_earner)::DECIMAL(18, 4) AS sold_total_price,
        (sum(sold_estate_parts) OVER of_earner)::DECIMAL(19, 8) AS sold_estate_parts
    FROM earners_with_periods
    WINDOW
        of_earner AS (
            PARTITION BY earner_kind, earner_id
            ORDER BY month_number RANGE BETWEEN months_before PRECEDING AND CURRENT ROW
        ),
        of_twelve_months AS (
            PARTITION BY earner_kind, earner_id ORDER BY month_number RANGE BETWEEN 11 PRECEDING AND CURRENT ROW
        )
),

loaded_months AS (
    SELECT
        CASE sources.report WHEN 'commission_office' THEN 'office' ELSE 'user' END AS earner_kind,
        sources.office_id,
        periods.month,
        count(*) AS month_count,
        count(*) FILTER (NOT sources.is_partial) AS whole_month_count
    FROM (SELECT DISTINCT month, month - to_months(months_before) AS first_month FROM earners_with_periods) AS periods
    INNER JOIN marts.office_sources AS sources ON sources.month BETWEEN periods.first_month AND periods.month
    WHERE sources.report IN ('commission_office', 'commission_user')
    GROUP BY ALL
),

ranked AS (
    SELECT
        *,
        (commission / nullif(active_month_count, 0))::DECIMAL(18, 4) AS commission_per_active_month,
        rank() OVER (of_period ORDER BY commission DESC) AS commission_rank,
        CASE
            WHEN active_month_count > 0
                THEN rank() OVER (of_period ORDER BY commission / nullif(active_month_count, 0) DESC NULLS LAST)
        END AS per_active_month_rank,
        count(*) OVER of_period AS earner_count,
        (max(commission) OVER of_period - commission)::DECIMAL(18, 4) AS to_the_leader,
        bool_or(was_open) OVER of_period AS is_unfinished
    FROM summed
    WHERE commission <> 0
    WINDOW of_period AS (PARTITION BY earner_kind, month)
),

compared AS (
    SELECT
        *,
        CASE
            WHEN lag(month) OVER earlier = (month - INTERVAL 1 MONTH)::DATE THEN lag(commission_rank) OVER earlier
        END AS earlier_rank
    FROM ranked
    WINDOW earlier AS (PARTITION BY earner_kind, earner_id ORDER BY month)
)

SELECT
    earner_kind,
    getvariable('period') AS period,
    month,
    earner_id,
    earners.earner_name,
    earners.office_id,
    offices.office_name,
    compared.commission,
    compared.sold_estate_parts,
    compared.sold_total_price,
    (compared.sold_commission / nullif(compared.sold_estate_parts, 0))::DECIMAL(18, 4) AS sold_average_commission,
    (compared.sold_total_price / nullif(compared.sold_estate_parts, 0))::DECIMAL(18, 4) AS average_price,
    (100 * compared.sold_commission / nullif(compared.sold_total_price, 0))::DECIMAL(19, 8) AS sold_commission_percentage,
    coalesce(loaded_months.month_count, compared.own_month_count) AS month_count,
    active_month_count,
    commission_per_active_month,
    coalesce(loaded_months.month_count, compared.own_month_count) = period_month_count
        AND greatest(loaded_months.whole_month_count, compared.own_month_count) = period_month_count
        AND NOT compared.is_partial AS is_complete,
    commission_rank,
    CASE
        WHEN is_unfinished THEN NULL
        WHEN getvariable('period') = 'quarter' AND month = date_trunc('quarter', month) THEN NULL
        WHEN getvariable('period') = 'year' AND month = date_trunc('year', month) THEN NULL
        ELSE earlier_rank
    END AS previous_rank,
    previous_rank - commission_rank AS rank_change,
    coalesce(earners.first_month = month, false) AS is_new,
    per_active_month_rank,
    earner_count,
    to_the_leader
FROM compared
INNER JOIN earners USING (earner_kind, earner_id, month)
LEFT JOIN marts.offices AS offices USING (office_id)
LEFT JOIN loaded_months USING (earner_kind, office_id, month)
ORDER BY earner_kind, year(month), earners.office_id, month, commission_rank, earner_id
