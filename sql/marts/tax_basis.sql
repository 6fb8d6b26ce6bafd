-- Do commissions have VAT in them?
-- One row, also where nothing has been declared. Every column of commissions as the service states them says the same in its comment;
-- budgets, and what is compared with them, are without VAT as far as basis_note beside them says nothing else.
-- Key: commission_basis
SELECT
    commission_vat,
    vat_rate::DECIMAL(19, 8) AS vat_rate,
    commission_basis,
    basis_note
FROM staging.tax_basis
