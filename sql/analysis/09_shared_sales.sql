-- How much have offices earned on each other's sales, in all months loaded?
-- One row per pair of offices: the listing office, and the office of an agent who shared the commission.
--
-- The office report counts a share at the agent's office; the sales list has the estate at the listing office.
-- Parameters: year, office
SELECT
    listing.office_name AS listed_by,
    shares.user_office_name AS shared_with,
    count(DISTINCT shares.estate_id) AS homes,
    (sum(shares.commission) / any_value(vat_divisor))::DECIMAL(18, 4) AS commission,
    round(sum(shares.commission_share), 2) AS parts_of_homes,
    divided_basis AS commission_basis
FROM marts.sale_shares AS shares
INNER JOIN marts.offices AS listing ON listing.office_id = shares.office_id
CROSS JOIN marts.tax_basis
WHERE shares.is_cross_office
    AND year(shares.month) = coalesce(getvariable('year'), year(shares.month))
    AND coalesce(getvariable('office'), shares.office_id) IN (shares.office_id, shares.user_office_id)
GROUP BY ALL
ORDER BY commission DESC;
