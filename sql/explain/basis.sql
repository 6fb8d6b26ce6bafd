-- On which tax basis are the amounts around the number?
-- One row where the number is a commission, its part of the price or its budget; vat_rate is the VAT that is in the number itself, where that is declared.
-- Parameters: measure, report
SELECT
    CASE
        WHEN getvariable('measure') = 'budget_commission' THEN 'without VAT, as budgets of commission are'
        WHEN max(commission_vat) = 'included'
            THEN 'with VAT, as the service states it; budgets of commission with the same VAT'
        WHEN max(commission_vat) = 'excluded' THEN 'without VAT, as the service states it'
        ELSE 'as the service states it, which does not say whether VAT is in it; budgets of commission are without'
    END AS basis,
    max(vat_rate) FILTER (
        commission_vat = 'included'
        AND regexp_matches(getvariable('measure'), '^(sold_average_|sold_)?commission(_per_active_agent)?$')
    ) AS vat_rate
FROM meta.tax_basis
HAVING (is_of_commissions() AND contains(getvariable('measure'), 'commission')) OR getvariable('measure') = 'budget_commission'
