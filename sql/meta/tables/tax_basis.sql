-- What the settings declare of VAT in commissions; the service does not say.
CREATE TABLE IF NOT EXISTS meta.tax_basis (
    commission_vat VARCHAR,
    vat_rate DECIMAL(18, 8)
);
COMMENT ON TABLE meta.tax_basis IS 'What the settings declare of VAT in commissions; the service does not say.';
COMMENT ON COLUMN meta.tax_basis.commission_vat IS 'whether commissions have VAT in them: excluded, included or unknown';
COMMENT ON COLUMN meta.tax_basis.vat_rate IS 'the rate of VAT that is declared, 0.25 for 25 %; null where none is';
