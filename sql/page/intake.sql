-- Where did the assignments that became sales come from?
-- One row per page and source: contracts of the twelve months to the last one that is over, the most homes first. The
-- fee is null below 25 homes. Declared VAT is deducted.
SELECT
    levels.level AS kind,
    coalesce(levels.member_id, '') AS scope,
    intake.intake_source AS source,
    sum(intake.home_count)::BIGINT AS homes,
    sum(without_vat(intake.commission, basis))::DECIMAL(18, 4) AS commission,
    CASE WHEN homes >= 25 THEN sum(without_vat(intake.commission, basis)) / nullif(sum(intake.final_price), 0) END::DOUBLE AS fee
FROM marts.intake_month AS intake
INNER JOIN marts.chain_month AS newest
    ON newest.is_last_over AND intake.month BETWEEN newest.month - INTERVAL 11 MONTH AND newest.month
INNER JOIN marts.office_levels AS levels USING (office_id)
LEFT JOIN meta.tax_basis AS basis ON true
WHERE levels.level = 'chain' OR levels.member_id IS NOT NULL
GROUP BY ALL
ORDER BY kind, scope, homes DESC, source
