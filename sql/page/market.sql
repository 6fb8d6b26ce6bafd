-- How do prices compare with asking prices, and how quickly do homes sell?
-- One row per page and month with at least 25 sales in the twelve months up to it (marts.market). A month is here if it
-- is one of the newest 24, is over, and is at least eleven months after the first month with a sale.
SELECT
    level AS kind,
    coalesce(member_id, '') AS scope,
    month,
    price_change_share,
    days_on_market
FROM marts.market
WHERE period = 'twelve months'
    AND estate_type IS NULL
    AND (level = 'chain' OR member_id IS NOT NULL)
    AND month > (SELECT max(month) FROM marts.office_month) - INTERVAL 24 MONTH
    AND month <= (SELECT month FROM marts.chain_month WHERE is_last_over)
    AND month >= (SELECT min(month) FROM marts.sales) + INTERVAL 11 MONTH
ORDER BY kind, scope, month
