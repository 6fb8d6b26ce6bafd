-- How many valuations and sales were there?
-- One row per page: the twelve months to the last one that is over.
SELECT
    months.level AS kind,
    coalesce(months.member_id, '') AS scope,
    sum(months.valuation_parts)::DECIMAL(18, 4) AS valuations,
    sum(months.sold_estate_parts)::DECIMAL(18, 4) AS homes
FROM marts.level_month AS months
INNER JOIN marts.chain_month AS newest
    ON newest.is_last_over AND months.month BETWEEN newest.month - INTERVAL 11 MONTH AND newest.month
WHERE months.level = 'chain' OR months.member_id IS NOT NULL
GROUP BY ALL
ORDER BY kind, scope
