-- Which months that were already reported have changed since, by how much, and what of it do sales explain?
-- One row per office, month and build in which the office report had another commission than before.
--
-- A month that was still running is not counted as changed. What the sales list does not explain is writing, valuation
-- or a correction by hand, or a sale of which one of the two reports was not read yet. The listing office has the whole
-- sale, the earning offices their shares: where agents of two offices share a sale, that is unexplained as well. The
-- sales themselves, by name: FROM marts.sale_changes WHERE is_restatement.
WITH explained AS (
    SELECT
        noted_at_utc,
        office_id,
        month,
        count(*) AS sales,
        sum(commission_change) AS commission_change,
        string_agg(change || ' ' || estate_id, ', ' ORDER BY abs(commission_change) DESC) AS changes
    FROM marts.sale_changes
    WHERE is_restatement
    GROUP BY ALL
)

SELECT
    month.office_name,
    month.month,
    month.noted_at_utc,
    month.commission_before,
    month.commission_after,
    month.commission_change,
    coalesce(explained.commission_change, 0) AS change_of_sales,
    month.commission_change - coalesce(explained.commission_change, 0) AS not_explained_by_sales,
    coalesce(explained.sales, 0) AS sales,
    explained.changes
FROM marts.office_restatements AS month
LEFT JOIN explained USING (noted_at_utc, office_id, month)
ORDER BY month.noted_at_utc DESC, abs(month.commission_change) DESC, month.office_id, month.month;
