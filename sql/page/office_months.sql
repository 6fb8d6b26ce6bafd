-- What did each office earn, month by month?
-- One row per office and month; amounts are null where the office report is not held to the end of the month, or to now
-- while it is open: part of a month is compared with nothing. VAT that the settings declare to be in commissions is
-- taken off, so that they stand beside budgets without it.
SELECT
    month,
    office_id,
    coalesce(office_name, office_id) AS office_name,
    CASE
        WHEN is_commission_complete THEN (commission / (1 + declared.vat_rate))::DECIMAL(18, 4)
    END AS commission,
    CASE
        WHEN is_commission_complete THEN (sold_commission / (1 + declared.vat_rate))::DECIMAL(18, 4)
    END AS sold_commission,
    CASE WHEN is_commission_complete THEN sold_estate_parts END AS sold_estate_parts,
    is_open
FROM marts.office_month
CROSS JOIN (
    SELECT coalesce(max(vat_rate) FILTER (commission_vat = 'included'), 0) AS vat_rate FROM meta.tax_basis
) AS declared
ORDER BY office_id, month
