-- What do homes fetch against their asking price, and how quickly do they sell?
-- One row per level, member (office, brand, region or chain), kind of home, period and month with at least 25 sales.
-- With fewer sales, a share or median says little.
-- New homes are left out, because they sell at list prices.
-- Medians and shares cannot be added: read one level and one period.
-- Kind: view
-- Key: level, member_id, estate_type, period, month
-- Columns:
--   level: office, brand, region or chain, see marts.office_levels
--   member_id: customer id of the office, or the brand or region. Null in two cases: for the chain; for an unknown
--     brand or region
--   estate_type: kind of home, as the service words it; null for all kinds
--   period: month, or twelve months to the month
--   month: first day of the last month of the period
--   sale_count: homes sold, each counted once, at the listing office
--   price_change_share: median of sale price over asking price, less 1; null if fewer than 25 sales have both prices
--   above_asking_share: share sold above the asking price, of sales with both prices; null if there are fewer than 25
--   days_on_market: median of the days from the first advertisement to the contract; null if fewer than 25 sales have
--     both days
--   sold_within_30_days_share: share sold within 30 days, of sales with both days; null if there are fewer than 25
WITH sales AS (
    SELECT
        levels.level,
        levels.member_id,
        sales.estate_type,
        sales.month,
        sales.final_price / nullif(sales.starting_price, 0) - 1 AS price_change,
        sales.days_from_listing_to_contract AS days
    FROM marts.sales AS sales
    INNER JOIN marts.office_levels AS levels USING (office_id)
    WHERE sales.is_new_home IS NOT TRUE
),

periods AS (
    SELECT DISTINCT month, unnest(['month', 'twelve months']) AS period
    FROM sales
),

measured AS (
    SELECT
        sales.level,
        sales.member_id,
        sales.estate_type,
        grouping(sales.estate_type) = 1 AS is_of_all_types,
        periods.period,
        periods.month,
        count(*) AS sale_count,
        count(price_change) >= 25 AS has_prices,
        count(days) >= 25 AS has_days,
        median(price_change) AS price_change,
        count(*) FILTER (price_change > 0) / nullif(count(price_change), 0) AS above_asking,
        median(days) AS days,
        count(*) FILTER (days <= 30) / nullif(count(days), 0) AS within_30_days
    FROM periods
    INNER JOIN sales
        ON sales.month = periods.month
        OR (periods.period = 'twelve months' AND sales.month BETWEEN periods.month - INTERVAL 11 MONTH AND periods.month)
    GROUP BY GROUPING SETS (
        (sales.level, sales.member_id, periods.period, periods.month),
        (sales.level, sales.member_id, sales.estate_type, periods.period, periods.month)
    )
    HAVING count(*) >= 25
)

SELECT
    level,
    member_id,
    estate_type,
    period,
    month,
    sale_count,
    CASE WHEN has_prices THEN price_change END::DECIMAL(19, 8) AS price_change_share,
    CASE WHEN has_prices THEN above_asking END::DECIMAL(19, 8) AS above_asking_share,
    CASE WHEN has_days THEN days END::DECIMAL(18, 1) AS days_on_market,
    CASE WHEN has_days THEN within_30_days END::DECIMAL(19, 8) AS sold_within_30_days_share
FROM measured
WHERE is_of_all_types OR estate_type IS NOT NULL
ORDER BY level, member_id, estate_type, period, month
