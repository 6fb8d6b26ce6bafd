-- Did commission of sales change since the year before by homes, by prices or by the fee?
-- One row per period with all three, see marts.commission_drivers.
-- Parameters: kind, id, first_month, month, report
SELECT
    period,
    sold_commission,
    sold_commission_before,
    difference,
    homes_effect,
    price_effect,
    fee_effect
FROM marts.commission_drivers
WHERE level = getvariable('kind')
    AND member_id IS NOT DISTINCT FROM nullif(getvariable('id'), '')
    AND month = getvariable('month')::DATE
    AND (period = 'year to date' OR getvariable('first_month') = getvariable('month'))
    AND is_of_commissions()
    AND homes_effect IS NOT NULL
ORDER BY period
