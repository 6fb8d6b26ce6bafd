-- How much commission is signed and not received, and how much of it is due?
-- One row per office, and what of it is after, before or without a known day of possession. An office that has never
-- noted a receipt has one row without amounts: it would look as if nobody had paid. Declared VAT is taken off, as in
-- office_months.
SELECT
    office_id,
    coalesce(any_value(office_name), office_id) AS office_name,
    is_receipt_noted,
    count(*) FILTER (is_receipt_noted AND is_outstanding) AS homes,
    (sum(outstanding_commission) FILTER (is_receipt_noted) / any_value(1 + declared.vat_rate))::DECIMAL(18, 4) AS outstanding,
    count(*) FILTER (is_receipt_noted AND is_outstanding AND state = 'due') AS due_homes,
    (sum(due_commission) FILTER (is_receipt_noted) / any_value(1 + declared.vat_rate))::DECIMAL(18, 4) AS due,
    count(*) FILTER (is_receipt_noted AND is_outstanding AND state = 'possession not known') AS undated_homes,
    max(days_due) FILTER (is_receipt_noted AND is_outstanding) AS longest_days_due,
    max(counted_on) AS counted_on,
    bool_and(is_refreshed) FILTER (is_outstanding) IS NOT FALSE AS is_refreshed
FROM (
    SELECT *, state <> 'received' AND outstanding_commission > 0 AS is_outstanding FROM marts.receivables
)
CROSS JOIN (
    SELECT coalesce(max(vat_rate) FILTER (commission_vat = 'included'), 0) AS vat_rate FROM meta.tax_basis
) AS declared
GROUP BY office_id, is_receipt_noted
ORDER BY outstanding DESC NULLS LAST, office_id
