-- Who earned most, by the newest month that is over for every office, as the rest of the page has it?
-- One row per kind, period and earner: the ten best users, and the ten best offices. Declared VAT is taken off, as
-- in office_months.
SELECT
    earner_kind AS kind,
    period,
    month,
    coalesce(earner_name, earner_id) AS name,
    (commission / (1 + declared.vat_rate))::DECIMAL(18, 4) AS commission,
    sold_estate_parts,
    commission_rank AS place,
    rank_change,
    earner_count,
    is_complete
FROM marts.leaderboard
CROSS JOIN (
    SELECT coalesce(max(vat_rate) FILTER (commission_vat = 'included'), 0) AS vat_rate FROM meta.tax_basis
) AS declared
WHERE month = (SELECT month FROM marts.chain_month WHERE is_last_over)
    AND commission_rank <= 10
ORDER BY earner_kind, period, commission_rank, name
