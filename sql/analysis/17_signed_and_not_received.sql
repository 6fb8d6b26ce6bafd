-- How much commission is outstanding (signed and not received), how much of it is due, and since when?
-- One row per office, day of counting and quarter of possession (null if not known), the oldest first.
--
-- Offices that never note a receipt are left out: they would look unpaid. The service has neither due dates nor part
-- payments, so a commission counts whole until the day of its receipt is noted. Receipts after counted_on are not known;
-- if is_refreshed is false, the office is no longer requested.
-- Parameters: year, office
SELECT
    office_name,
    date_trunc('quarter', access_on)::DATE AS possession_quarter,
    count(*) AS homes,
    sum(outstanding_commission) AS outstanding,
    sum(due_commission) AS due,
    max(days_due) AS longest_days_due,
    counted_on,
    is_refreshed,
    commission_basis
FROM marts.receivables
CROSS JOIN marts.tax_basis
WHERE state <> 'received'
    AND is_receipt_noted
    AND outstanding_commission > 0
    AND year(month) = coalesce(getvariable('year'), year(month))
    AND office_id = coalesce(getvariable('office'), office_id)
GROUP BY ALL
ORDER BY possession_quarter, outstanding DESC;
