-- Do commissions include VAT?
-- One row, even if nothing is declared.
-- The comment of every column with commissions as the service states them contains commission_basis. Budgets, and
-- amounts compared with them, are without VAT unless their basis_note says otherwise.
-- Kind: view
-- Key: commission_basis
-- Columns:
--   commission_vat: whether commissions include VAT, as the settings declare: excluded, included or unknown
--   vat_rate: the declared rate of VAT, 0.25 for 25 %; null if none is declared
--   vat_divisor: the number that stated commissions are divided by to deduct declared VAT; 1 if none is declared
--   divided_basis: the tax basis of commissions that were divided by vat_divisor, in words
--   commission_basis: the tax basis of commissions as the service states them, in words
--   basis_note: what to note when commission is compared with a budget; null if commission is declared to be without
--     VAT, as budgets are
WITH declaration AS (
    SELECT coalesce(max(commission_vat), 'unknown') AS commission_vat, max(vat_rate) AS vat_rate
    FROM meta.tax_basis
)

SELECT
    commission_vat,
    vat_rate::DECIMAL(19, 8) AS vat_rate,
    (1 + CASE WHEN commission_vat = 'included' THEN vat_rate ELSE 0 END)::DECIMAL(19, 8) AS vat_divisor,
    CASE commission_vat WHEN 'unknown' THEN 'not declared whether with VAT' ELSE 'without VAT' END AS divided_basis,
    CASE commission_vat
        WHEN 'unknown' THEN divided_basis
        WHEN 'included' THEN 'with VAT of ' || percent || ' %'
        ELSE 'without VAT'
    END AS commission_basis,
    CASE commission_vat
        WHEN 'unknown' THEN 'commission may include VAT; the budget does not'
        WHEN 'included' THEN 'commission less its declared VAT of ' || percent || ' %'
    END AS basis_note
FROM (SELECT *, regexp_replace((100 * vat_rate)::VARCHAR, '\.?0+$', '') AS percent FROM declaration)
