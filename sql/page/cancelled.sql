-- Which sales were cancelled this year?
-- One row per sale that was found cancelled since the start of the year of the newest month that is over, the latest
-- first.
-- known_since_on is the day since which cancelled sales are tracked at its office. Declared VAT is deducted.
SELECT
    sales.office_id,
    coalesce(sales.office_name, sales.office_id) AS office_name,
    coalesce(sales.street_address, sales.estate_number, sales.estate_id) AS home,
    coalesce(sales.estate_number, sales.estate_id) AS home_number,
    sales.agents,
    sales.contract_on,
    sales.month,
    sales.noted_on,
    sales.known_since_on,
    sales.is_in_totals,
    without_vat(sales.commission, basis)::DECIMAL(18, 4) AS commission
FROM marts.cancelled_sales AS sales
LEFT JOIN meta.tax_basis AS basis ON true
WHERE sales.noted_on >= (SELECT date_trunc('year', month) FROM marts.chain_month WHERE is_last_over)
ORDER BY sales.noted_on DESC, sales.commission DESC, sales.estate_id
