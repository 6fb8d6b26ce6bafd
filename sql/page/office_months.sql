-- What did each office earn, month by month, and how far is that known?
-- One row per office and month that should be held, as marts.chain_month counts them: amounts are null where nothing is
-- held of the office report, and cover part of the month where is_whole is false. VAT that the settings declare to be in
-- commissions is taken off, so that they stand beside budgets without it. Began month is as in marts.office_month, on each row of the office.
SELECT
    coverage.month,
    coverage.office_id,
    coalesce(coverage.office_name, coverage.office_id) AS office_name,
    (known.commission / (1 + declared.vat_rate))::DECIMAL(18, 4) AS commission,
    (known.sold_commission / (1 + declared.vat_rate))::DECIMAL(18, 4) AS sold_commission,
    known.sold_estate_parts,
    known.active_agent_count,
    coalesce(known.is_open, false) AS is_open,
    coverage.is_commission_held AS is_whole,
    known.read_at_utc,
    max(known.began_month) OVER (PARTITION BY coverage.office_id) AS began_month
FROM marts.office_coverage AS coverage
LEFT JOIN marts.office_month AS known
    ON known.office_id = coverage.office_id AND known.month = coverage.month
CROSS JOIN (
    SELECT coalesce(max(vat_rate) FILTER (commission_vat = 'included'), 0) AS vat_rate FROM meta.tax_basis
) AS declared
ORDER BY coverage.office_id, coverage.month
