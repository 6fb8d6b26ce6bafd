-- On which tax basis are the amounts around the number?
-- One row of a commission or its budget: the basis, and by what it is more than without VAT, where that is declared.
-- Parameters: measure, report
SELECT
    CASE
        WHEN starts_with(getvariable('measure'), 'budget_') THEN 'without VAT, as budgets are'
        WHEN max(commission_vat) = 'included' THEN 'with VAT, as the service states it; budgets with the same VAT'
        WHEN max(commission_vat) = 'excluded' THEN 'without VAT'
        ELSE 'as the service states it, which does not say whether VAT is in it; budgets are without VAT'
    END AS basis,
    max(vat_rate) FILTER (commission_vat = 'included' AND NOT starts_with(getvariable('measure'), 'budget_')) AS vat_rate
FROM meta.tax_basis
HAVING starts_with(getvariable('report'), 'commission') OR getvariable('measure') = 'budget_commission'
