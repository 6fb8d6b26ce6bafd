-- Who earned most, in the month, the quarter, the year so far and the last twelve months?
-- One row per kind of earner (office or user), period, last month of the period and earner with any commission.
-- A quarter and a year are counted from their start to the month. A period is complete when every month of it is
-- held; earners are ranked by commission, equal ones share a rank. The month before is the same kind of period one
-- month earlier, so a quarter's first month is compared with the whole quarter before.
-- Columns:
--   commission: commission for sales, valuations and writings together, by share, in SEK; tax basis not stated
--   earner_kind: office or user
--   period: month, quarter, year or twelve months
--   month: first day of the last month of the period
--   earner_id: id of the office or user
--   earner_name: name of the office or user
--   month_count: months of the period that are held
--   is_complete: whether every month of the period is held and over
--   sold_average_commission: commission of an average sale in SEK, from sums; null without a sale
--   sold_commission_percentage: commission of sales in percent of their prices, from sums; null without a sale
--   commission_rank: place by commission, 1 for the most
--   previous_rank: place a month earlier; null for who had none
--   rank_change: places won since (positive) or lost
--   earner_count: how many are ranked
--   to_the_leader: commission that is missing to the first place, in SEK
WITH earners AS (
    SELECT
        'office' AS earner_kind, office_id AS earner_id, office_name AS earner_name, month, is_open,
        commission, sold_commission, sold_total_price, sold_estate_parts
    FROM marts.office_month
    WHERE commission IS NOT NULL
    UNION ALL
    SELECT
        'user', user_id, user_name, month, is_open,
        commission, sold_commission, sold_total_price, sold_estate_parts
    FROM marts.user_month
    WHERE commission IS NOT NULL
),

periods AS (
    SELECT * FROM (VALUES ('month'), ('quarter'), ('year'), ('twelve months')) AS kinds(period)
),

months_of_periods AS (
    SELECT
        period,
        month,
        CASE period
            WHEN 'month' THEN month
            WHEN 'quarter' THEN date_trunc('quarter', month)::DATE
            WHEN 'year' THEN date_trunc('year', month)::DATE
            ELSE (month - INTERVAL 11 MONTH)::DATE
        END AS first_month
    FROM periods
    CROSS JOIN (SELECT DISTINCT month FROM earners)
),

summed AS (
    SELECT
        earners.earner_kind,
        periods.period,
        periods.month,
        periods.first_month,
        earners.earner_id,
        arg_max(earner_name, earners.month) AS earner_name,
        count(*) AS month_count,
        bool_or(is_open) AS is_open,
        sum(commission)::DECIMAL(18, 4) AS commission,
        sum(sold_commission)::DECIMAL(18, 4) AS sold_commission,
        sum(sold_total_price)::DECIMAL(18, 4) AS sold_total_price,
        sum(sold_estate_parts)::DECIMAL(18, 8) AS sold_estate_parts
    FROM months_of_periods AS periods
    INNER JOIN earners ON earners.month BETWEEN periods.first_month AND periods.month
    GROUP BY ALL
    HAVING sum(commission) <> 0
),

ranked AS (
    SELECT
        *,
        month_count = date_diff('month', first_month, month) + 1 AND NOT is_open AS is_complete,
        rank() OVER (PARTITION BY earner_kind, period, month ORDER BY commission DESC) AS commission_rank,
        count(*) OVER (PARTITION BY earner_kind, period, month) AS earner_count,
        max(commission) OVER (PARTITION BY earner_kind, period, month) - commission AS to_the_leader
    FROM summed
)

SELECT
    now.earner_kind,
    now.period,
    now.month,
    now.earner_id,
    now.earner_name,
    now.commission,
    now.sold_estate_parts,
    now.sold_total_price,
    (now.sold_commission / nullif(now.sold_estate_parts, 0))::DECIMAL(18, 4) AS sold_average_commission,
    (100 * now.sold_commission / nullif(now.sold_total_price, 0))::DECIMAL(18, 8) AS sold_commission_percentage,
    now.month_count,
    now.is_complete,
    now.commission_rank,
    before.commission_rank AS previous_rank,
    before.commission_rank - now.commission_rank AS rank_change,
    now.earner_count,
    now.to_the_leader
FROM ranked AS now
LEFT JOIN ranked AS before
    ON before.earner_kind = now.earner_kind
    AND before.period = now.period
    AND before.earner_id = now.earner_id
    AND before.month = (now.month - INTERVAL 1 MONTH)::DATE
ORDER BY now.earner_kind, now.period, now.month, now.commission_rank, now.earner_id
