-- How much do offices earn on each other's sales?
-- One row per pair of offices: who had the estate, and whose agent shared the commission.
--
-- The office report counts a share where the agent belongs; the sales list shows the estate where it was listed.
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
