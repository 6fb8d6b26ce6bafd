-- What the settings declare of VAT in commissions; the service does not say.
-- Columns:
--   commission_vat: whether commissions have VAT in them: excluded, included or unknown
--   vat_rate: the rate of VAT that is declared, 0.25 for 25 %; null if none is
CREATE TABLE IF NOT EXISTS meta.tax_basis (
    commission_vat VARCHAR,
    vat_rate DECIMAL(18, 8)
);
