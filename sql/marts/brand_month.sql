-- What did each brand of the chain earn and do, month by month?
-- One row per brand and month that any office holds; the row without a brand is of offices whose brand nobody knows.
-- An office counts under one brand, that of today, see marts.offices; so brands add up to marts.chain_month.
-- Key: brand, month
-- Columns: as chain_month
SELECT
    coverage.brand,
    coverage.month,
    unnest(sums_of_offices(counted, coverage)),
    any_value(chain.is_last_over) AS is_last_over
FROM marts.office_coverage AS coverage
INNER JOIN marts.chain_month AS chain ON chain.month = coverage.month
LEFT JOIN marts.office_month AS counted ON counted.office_id = coverage.office_id AND counted.month = coverage.month
GROUP BY coverage.month, coverage.brand
ORDER BY coverage.month, coverage.brand
