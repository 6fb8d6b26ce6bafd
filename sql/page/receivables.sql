-- How much commission is signed and not received, and how long has it been due?
-- One row per office with outstanding commission, the one with most overdue for over 60 days first. An office that has
-- never noted a receipt has a row without amounts: with amounts it would look as if it had never been paid. Declared
-- VAT is not deducted, because the VAT is paid as well.
SELECT
    office_id,
    coalesce(any_value(office_name), office_id) AS office_name,
    is_receipt_noted,
    count(*) FILTER (is_receipt_noted AND outstanding_commission > 0) AS homes,
    CASE WHEN is_receipt_noted THEN coalesce(sum(outstanding_commission), 0) END::DECIMAL(18, 4) AS outstanding,
    CASE WHEN is_receipt_noted THEN coalesce(sum(outstanding_commission) FILTER (age_band = 'not yet due'), 0) END::DECIMAL(18, 4) AS not_due,
    CASE WHEN is_receipt_noted THEN coalesce(sum(due_commission) FILTER (days_due <= 30), 0) END::DECIMAL(18, 4) AS due_to_30,
    CASE WHEN is_receipt_noted THEN coalesce(sum(due_commission) FILTER (age_band = '31-60 days'), 0) END::DECIMAL(18, 4) AS due_to_60,
    CASE WHEN is_receipt_noted THEN coalesce(sum(due_commission) FILTER (age_band = 'over 60 days'), 0) END::DECIMAL(18, 4) AS due_longer,
    CASE WHEN is_receipt_noted THEN coalesce(sum(outstanding_commission) FILTER (age_band = 'possession not known'), 0) END::DECIMAL(18, 4) AS undated,
    max(days_due) FILTER (is_receipt_noted AND due_commission > 0) AS longest_days,
    max(counted_on) AS counted_on,
    local_day(min(read_at_utc) FILTER (is_receipt_noted AND due_commission > 0)) AS read_on
FROM marts.receivables
GROUP BY office_id, is_receipt_noted
HAVING NOT is_receipt_noted OR homes > 0
ORDER BY due_longer DESC NULLS LAST, due_to_60 DESC NULLS LAST, due_to_30 DESC NULLS LAST, outstanding DESC NULLS LAST, office_id
