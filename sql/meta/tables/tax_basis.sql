-- The VAT in commissions, as declared in the settings; the service does not state it.
-- Columns:
--   commission_vat: whether commissions include VAT: excluded, included or unknown
--   vat_rate: the declared rate of VAT, 0.25 for 25 %; null if none is declared
CREATE TABLE IF NOT EXISTS meta.tax_basis (
    commission_vat VARCHAR,
    vat_rate DECIMAL(18, 8)
);
