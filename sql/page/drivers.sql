-- Why did commission from sales differ from the year before: number of homes, price, fee, or offices opened or closed?
-- One row per page and period: the newest month that is over for every office, and the year up to it. No row if
-- marts.commission_drivers has no effects for it, or with fewer than 25 homes in either year. Declared VAT is deducted.
SELECT
    drivers.level AS kind,
    coalesce(drivers.member_id, '') AS scope,
    CASE drivers.period WHEN 'month' THEN 'month' ELSE 'year' END AS period,
    without_vat(drivers.sold_commission_before, basis)::DECIMAL(18, 4) AS sold_commission_before,
    without_vat(drivers.sold_commission, basis)::DECIMAL(18, 4) AS sold_commission,
    without_vat(drivers.homes_effect, basis)::DECIMAL(18, 4) AS homes_effect,
    without_vat(drivers.price_effect, basis)::DECIMAL(18, 4) AS price_effect,
    without_vat(drivers.fee_effect, basis)::DECIMAL(18, 4) AS fee_effect,
    without_vat(drivers.offices_effect, basis)::DECIMAL(18, 4) AS offices_effect,
    without_vat(drivers.difference, basis)::DECIMAL(18, 4) AS difference
FROM marts.commission_drivers AS drivers
LEFT JOIN meta.tax_basis AS basis ON true
WHERE drivers.month = (SELECT month FROM marts.chain_month WHERE is_last_over)
    AND (drivers.level = 'chain' OR drivers.member_id IS NOT NULL)
    AND drivers.homes_effect IS NOT NULL AND least(drivers.sold_estate_parts, drivers.sold_estate_parts_before) >= 25
ORDER BY drivers.level, scope, drivers.period
