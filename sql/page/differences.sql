-- Where do two reports differ most?
-- One row per month, office, other report and measure: the forty largest.
SELECT
    month,
    coalesce(office_name, office_id) AS office_name,
    compared,
    replace(measure, 'sold estate parts', 'homes sold') AS measure,
    amount,
    compared_amount,
    difference,
    likely_reason
FROM marts.reconciliation
WHERE NOT is_reconciled
ORDER BY abs(difference) DESC, month DESC
LIMIT 40
