-- Which months that were already reported have changed since, by how much, and which sales explain it?
-- One row per office, month and moment at which the sales list was found changed, and sale that had changed.
--
-- A month that was still running is not counted as changed. The changes of the sales add up to that of the month.
SELECT
    month.office_name,
    month.month,
    month.noted_at_utc,
    month.commission_change AS month_commission_change,
    sale.change,
    sale.estate_id,
    sale.other_month AS moved_from_or_to,
    sale.commission_before,
    sale.commission_after,
    sale.commission_change
FROM marts.restatements AS month
LEFT JOIN marts.sale_changes AS sale
    ON sale.noted_at_utc = month.noted_at_utc AND sale.office_id = month.office_id AND sale.month = month.month
WHERE month.report = 'sales'
ORDER BY month.noted_at_utc DESC, abs(month.commission_change) DESC, month.office_id, month.month,
    abs(sale.commission_change) DESC;
