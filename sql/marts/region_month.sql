-- What did each region of the chain earn and do, month by month?
-- One row per region of the settings and month that any office holds; the row without a region is of offices to which
-- the settings give none. Regions add up to marts.chain_month.
-- Key: region, month
-- Columns: as chain_month
SELECT
    coverage.region,
    coverage.month,
    sum(counted.commission)::DECIMAL(18, 4) AS commission,
    sum(counted.sold_commission)::DECIMAL(18, 4) AS sold_commission,
    sum(counted.sold_total_price)::DECIMAL(18, 4) AS sold_total_price,
    sum(counted.sold_estate_parts)::DECIMAL(19, 8) AS sold_estate_parts,
    (sum(counted.sold_commission) / nullif(sum(counted.sold_estate_parts), 0))::DECIMAL(18, 4)
        AS sold_average_commission,
    (100 * sum(counted.sold_commission) / nullif(sum(counted.sold_total_price), 0))::DECIMAL(19, 8)
        AS sold_commission_percentage,
    sum(counted.writing_parts)::DECIMAL(19, 8) AS writing_parts,
    sum(counted.valuation_parts)::DECIMAL(19, 8) AS valuation_parts,
    sum(counted.running_commission_sek_excl_vat)::DECIMAL(18, 4) AS running_commission_sek_excl_vat,
    sum(counted.incoming_lead_count)::BIGINT AS incoming_lead_count,
    sum(counted.outgoing_lead_count)::BIGINT AS outgoing_lead_count,
    sum(counted.tip_count)::BIGINT AS tip_count,
    count(*) FILTER (coverage.is_held) AS office_count,
    count(*) AS expected_office_count,
    string_agg(
        coalesce(coverage.office_name, coverage.office_id) || ' (' || coverage.missing_reports || ')', '; '
        ORDER BY coverage.office_name, coverage.office_id
    ) AS missing_offices,
    bool_and(coverage.is_commission_held) AS is_commission_complete,
    bool_and(coverage.is_held) AS is_complete,
    coalesce(bool_and(coverage.is_refreshed), true) AS is_refreshed,
    coalesce(bool_or(counted.is_open), false) AS is_open
FROM marts.office_coverage AS coverage
LEFT JOIN marts.office_month AS counted ON counted.office_id = coverage.office_id AND counted.month = coverage.month
GROUP BY coverage.month, coverage.region
ORDER BY coverage.month, coverage.region
