-- Who earned most, in the month, the quarter, the year so far and the last twelve months?
-- One row per kind of earner (office or user), period, last month of the period and earner with any commission
-- in it.
-- A quarter and a year are counted from their start to the month. A period is complete when every month of it
-- is held to its end; earners are ranked by commission, equal ones share a rank. Places are compared with the same
-- quarter or year a month earlier, so in the first month of one there is nothing to compare with.
-- Offices and users, and periods that overlap, lie in one table here: for sums take one kind and one period, as
-- office_leaderboard_month, user_leaderboard_year and the six others do.
-- Rows lie by year and office, so that both an office and a month are found quickly.
-- Key: earner_kind, period, month, earner_id
-- Columns:
--   commission: commission for sales, valuations and writings together, by share; currency and tax basis not
--     documented
--   earner_kind: office or user
--   period: month, quarter, year or twelve months
--   month: first day of the last month of the period
--   earner_id: id of the office or user
--   earner_name: name of the office or user; of users with the same name with the office or the id behind it
--   office_id: customer id of the office itself, or of the user's office in the last month of the period
--   office_name: name of that office
--   month_count: months of the period that are held
--   is_complete: whether every month of the period is over and held to its end
--   sold_average_commission: commission of an average sale, from sums, currency and tax basis as commission;
--     null without a sale; never average or add it up
--   sold_commission_percentage: commission of sales in percent of their prices, from sums; null without a
--     sale
--   commission_rank: place by commission, 1 for the most
--   previous_rank: place a month earlier; null for who had none, and in the first month of a quarter or year
--   rank_change: places won since (positive) or lost
--   earner_count: how many are ranked
--   to_the_leader: commission that is missing to the first place
WITH earners AS (
    SELECT
        'office' AS earner_kind, office_id AS earner_id, office_name AS earner_name, office_id, month,
        is_open OR NOT is_commission_complete AS is_partial,
        commission, sold_commission, sold_total_price, sold_estate_parts
    FROM marts.office_month
    WHERE commission IS NOT NULL
    UNION ALL
    SELECT
        'user', user_id, user_label, office_id, month, is_open OR NOT is_commission_complete,
        commission, sold_commission, sold_total_price, sold_estate_parts
    FROM marts.user_month
    WHERE commission IS NOT NULL
),

summed AS (
    SELECT
        earner_kind, earner_id, earner_name, office_id, month, 'month' AS period, 1 AS wanted_count,
        1 AS month_count, is_partial, commission, sold_commission, sold_total_price, sold_estate_parts
    FROM earners
    UNION ALL
    SELECT
        earner_kind, earner_id, earner_name, office_id, month, 'quarter', (month(month) - 1) % 3 + 1,
        count(*) OVER so_far, bool_or(is_partial) OVER so_far, sum(commission) OVER so_far,
        sum(sold_commission) OVER so_far, sum(sold_total_price) OVER so_far, sum(sold_estate_parts) OVER so_far
    FROM earners
    WINDOW so_far AS (PARTITION BY earner_kind, earner_id, year(month), quarter(month) ORDER BY month)
    UNION ALL
    SELECT
        earner_kind, earner_id, earner_name, office_id, month, 'year', month(month),
        count(*) OVER so_far, bool_or(is_partial) OVER so_far, sum(commission) OVER so_far,
        sum(sold_commission) OVER so_far, sum(sold_total_price) OVER so_far, sum(sold_estate_parts) OVER so_far
    FROM earners
    WINDOW so_far AS (PARTITION BY earner_kind, earner_id, year(month) ORDER BY month)
    UNION ALL
    SELECT
        earner_kind, earner_id, earner_name, office_id, month, 'twelve months', 12,
        count(*) OVER so_far, bool_or(is_partial) OVER so_far, sum(commission) OVER so_far,
        sum(sold_commission) OVER so_far, sum(sold_total_price) OVER so_far, sum(sold_estate_parts) OVER so_far
    FROM earners
    WINDOW so_far AS (
        PARTITION BY earner_kind, earner_id ORDER BY year(month) * 12 + month(month)
        RANGE BETWEEN 11 PRECEDING AND CURRENT ROW
    )
),

ranked AS (
    SELECT
        * REPLACE (
            commission::DECIMAL(18, 4) AS commission,
            sold_total_price::DECIMAL(18, 4) AS sold_total_price,
            sold_estate_parts::DECIMAL(19, 8) AS sold_estate_parts
        ),
        month_count = wanted_count AND NOT is_partial AS is_complete,
        rank() OVER (PARTITION BY earner_kind, period, month ORDER BY commission DESC) AS commission_rank,
        count(*) OVER (PARTITION BY earner_kind, period, month) AS earner_count,
        (max(commission) OVER (PARTITION BY earner_kind, period, month) - commission)::DECIMAL(18, 4)
            AS to_the_leader
    FROM summed
    WHERE commission <> 0
)

SELECT
    earner_kind,
    period,
    month,
    earner_id,
    earner_name,
    office_id,
    offices.office_name,
    commission,
    sold_estate_parts,
    sold_total_price,
    (sold_commission / nullif(sold_estate_parts, 0))::DECIMAL(18, 4) AS sold_average_commission,
    (100 * sold_commission / nullif(sold_total_price, 0))::DECIMAL(19, 8) AS sold_commission_percentage,
    month_count,
    is_complete,
    commission_rank,
    CASE
        WHEN period = 'quarter' AND month = date_trunc('quarter', month) THEN NULL
        WHEN period = 'year' AND month = date_trunc('year', month) THEN NULL
        WHEN lag(month) OVER earlier = (month - INTERVAL 1 MONTH)::DATE THEN lag(commission_rank) OVER earlier
    END AS previous_rank,
    previous_rank - commission_rank AS rank_change,
    earner_count,
    to_the_leader
FROM ranked
LEFT JOIN marts.offices AS offices USING (office_id)
WINDOW earlier AS (PARTITION BY earner_kind, period, earner_id ORDER BY month)
ORDER BY earner_kind, period, year(month), ranked.office_id, month, commission_rank, earner_id
