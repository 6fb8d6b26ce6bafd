-- How many valuations became assignments, and how many assignments became sales?
-- One row per office: the twelve months to the last one that is over.
SELECT
    office_id,
    sum(valuation_parts)::DECIMAL(18, 4) AS valuations,
    sum(writing_parts)::DECIMAL(18, 4) AS writings,
    sum(sold_estate_parts)::DECIMAL(18, 4) AS sold
FROM marts.funnel_month
INNER JOIN (SELECT month AS last_month FROM marts.chain_month WHERE is_last_over)
    ON month BETWEEN last_month - INTERVAL 11 MONTH AND last_month
WHERE earner_kind = 'office'
GROUP BY office_id
ORDER BY office_id
