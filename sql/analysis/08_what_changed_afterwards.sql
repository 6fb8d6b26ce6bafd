-- Which months that were already reported have changed since, by how much, and what of it do sales explain?
-- One row per office, month and build in which the office report had another commission than before.
--
-- A month that was still running is not counted as changed. A sale counts at the offices of its agents by their shares, as
-- in the office report, and not at the one that listed it; who shared in a sale that vanished nobody knows any more, so it
-- counts whole where it was listed. What sales do not explain has a likely reason. The sales themselves, by name:
-- FROM marts.sale_changes WHERE is_restatement, or `brokerbi explain`.
-- Parameters: year, office
WITH shares AS (
    SELECT estate_id, user_office_id AS office_id, sum(commission_share) AS share
    FROM marts.sale_shares
    GROUP BY ALL
),

changed AS (
    SELECT
        changes.noted_at_utc,
        coalesce(shares.office_id, changes.office_id) AS office_id,
        changes.month,
        changes.change || ' ' || changes.estate_id AS change,
        changes.commission_change * coalesce(shares.share, 1) AS commission_change
    FROM marts.sale_changes AS changes
    LEFT JOIN shares USING (estate_id)
    WHERE changes.is_restatement
),

explained AS (
    SELECT
        noted_at_utc,
        office_id,
        month,
        count(*) AS sales,
        sum(commission_change)::DECIMAL(18, 4) AS commission_change,
        string_agg(change, ', ' ORDER BY abs(commission_change) DESC) AS changes
    FROM changed
    GROUP BY ALL
),

vanished AS (
    SELECT noted_at_utc, month, string_agg(estate_id, ', ' ORDER BY estate_id) AS estates
    FROM marts.sale_changes
    WHERE is_restatement AND change IN ('vanished', 'moved away')
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
    explained.changes,
    CASE
        WHEN month.commission_change IS NULL THEN 'an answer without any commission'
        WHEN abs(not_explained_by_sales) < 0.01 THEN NULL
        WHEN month.price_change = 0 AND month.estate_parts_change = 0 AND explained.sales IS NULL
            THEN 'writing or valuation, a correction by hand, or a share that was changed: no home and no price'
        WHEN vanished.estates IS NOT NULL
            THEN 'perhaps a share in ' || vanished.estates || ', else writing, valuation or a correction by hand'
        ELSE 'writing, valuation, a correction by hand, or a sale that the sales list was not read for yet'
    END AS likely_reason
FROM marts.office_restatements AS month
LEFT JOIN explained USING (noted_at_utc, office_id, month)
LEFT JOIN vanished ON vanished.noted_at_utc = month.noted_at_utc AND vanished.month = month.month
WHERE year(month.month) = coalesce(getvariable('year'), year(month.month))
    AND month.office_id = coalesce(getvariable('office'), month.office_id)
ORDER BY month.noted_at_utc DESC, abs(month.commission_change) DESC, month.office_id, month.month;
