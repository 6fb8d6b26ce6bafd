-- How many sales have come, gone or changed since the moment that is compared with?
-- One row per page (the chain, a brand, a region or an office) of an office with such a sale. Sales count whole, at the listing
-- office; new is a sale only where its office was known before: what is read for the first time is no news. Of one that is
-- another now, the change of commission; one that moved to another office is neither. Declared VAT is taken off.
WITH since AS (
    SELECT compared_with(at_utc, newest_utc) AS at_utc
    FROM (SELECT at_utc, max(at_utc) OVER () AS newest_utc FROM meta.publications WHERE status = 'published')
    HAVING compared_with(at_utc, newest_utc) >= (SELECT min(valid_from_utc) FROM marts.sale_versions)
),

months_known AS (
    SELECT DISTINCT totals.office_id, totals.month
    FROM marts.month_total_versions AS totals
    INNER JOIN since ON totals.valid_from_utc <= since.at_utc
    WHERE totals.report = 'sales'
),

sales_then AS (
    SELECT versions.*
    FROM marts.sale_versions AS versions
    INNER JOIN since
        ON versions.valid_from_utc <= since.at_utc AND coalesce(versions.valid_to_utc > since.at_utc, true)
    WHERE versions.is_present
),

compared AS (
    SELECT
        now.office_id,
        CASE WHEN before.estate_id IS NULL THEN 'new' WHEN now.is_present THEN 'changed' ELSE 'gone' END AS kind,
        without_vat(
            CASE WHEN now.is_present THEN now.commission ELSE 0 END - coalesce(before.commission, 0), basis
        ) AS commission
    FROM marts.sale_versions AS now
    CROSS JOIN since
    LEFT JOIN meta.tax_basis AS basis ON true
    LEFT JOIN sales_then AS before USING (estate_id)
    WHERE now.valid_to_utc IS NULL
        AND coalesce(before.office_id = now.office_id, now.is_present)
        AND (before.estate_id IS NULL OR (now.is_present, now.commission) IS DISTINCT FROM (true, before.commission))
        AND (
            before.estate_id IS NOT NULL
            OR (now.office_id, now.month) IN (SELECT (office_id, month) FROM months_known)
            OR (now.month >= date_trunc('month', since.at_utc) AND now.office_id IN (SELECT office_id FROM months_known))
        )
),

of_pages AS (
    SELECT
        levels.level AS kind,
        coalesce(levels.member_id, '') AS scope,
        compared.kind AS change,
        compared.commission
    FROM compared
    INNER JOIN marts.office_levels AS levels USING (office_id)
    WHERE levels.level = 'chain' OR levels.member_id IS NOT NULL
)

SELECT
    kind,
    scope,
    count(*) FILTER (change = 'new') AS new_count,
    coalesce(sum(commission) FILTER (change = 'new'), 0)::DECIMAL(18, 4) AS new_commission,
    count(*) FILTER (change = 'gone') AS gone_count,
    coalesce(sum(commission) FILTER (change = 'gone'), 0)::DECIMAL(18, 4) AS gone_commission,
    count(*) FILTER (change = 'changed') AS changed_count,
    coalesce(sum(commission) FILTER (change = 'changed'), 0)::DECIMAL(18, 4) AS changed_commission
FROM of_pages
GROUP BY kind, scope
ORDER BY kind, scope
