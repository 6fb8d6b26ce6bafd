-- Where did the assignments come from that became sales?
-- One row per office and source: contracts of the twelve months to the last one that is over. Declared VAT is deducted.
SELECT
    office_id,
    intake_source AS source,
    sum(home_count)::BIGINT AS homes,
    sum(without_vat(commission, basis))::DECIMAL(18, 4) AS commission,
    sum(final_price)::DECIMAL(18, 4) AS price
FROM marts.intake_month
INNER JOIN (SELECT month AS last_month FROM marts.chain_month WHERE is_last_over)
    ON month BETWEEN last_month - INTERVAL 11 MONTH AND last_month
LEFT JOIN meta.tax_basis AS basis ON true
GROUP BY office_id, intake_source
ORDER BY office_id, homes DESC, source
