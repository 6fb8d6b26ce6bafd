-- What did each region of the chain earn and do, month by month?
-- One row per region of the settings and month that any office holds; the row without a region is of offices to which
-- the settings give none. Regions add up to marts.chain_month.
-- Key: region, month
-- Columns: as chain_month
SELECT
    coverage.region,
    coverage.month,
    unnest(sums_of_offices(counted, coverage)),
    any_value(chain.is_last_over) AS is_last_over
FROM marts.office_coverage AS coverage
INNER JOIN marts.chain_month AS chain ON chain.month = coverage.month
LEFT JOIN marts.office_month AS counted ON counted.office_id = coverage.office_id AND counted.month = coverage.month
GROUP BY coverage.month, coverage.region
ORDER BY coverage.month, coverage.region
