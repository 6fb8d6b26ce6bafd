-- Which sales are new, removed, changed or moved to another month since the compared publication?
-- One row per sale, the largest change of commission first, and new sales after all others. The whole sale counts at
-- the listing office. Agents are the last known ones. Declared VAT is deducted.
-- A sale is new only if sales of its office had been loaded before. Those of its month must have been loaded too; the
-- month of the publication and later ones need not have been.
-- A sale that moved to another office is neither new nor removed: it is left out.
WITH since AS (
    SELECT since_utc AS at_utc
    FROM meta.news_since
    WHERE since_utc >= (SELECT min(valid_from_utc) FROM marts.sale_versions)
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
)

SELECT
    now.office_id,
    coalesce(now.office_name, now.office_id) AS office_name,
    CASE
        WHEN before.estate_id IS NULL THEN 'new'
        WHEN NOT now.is_present THEN 'gone'
        WHEN now.month <> before.month THEN 'moved'
        ELSE 'changed'
    END AS change,
    now.street_address AS home,
    coalesce(before.estate_number, now.estate_number, estate_id) AS home_number,
    coalesce(now.contract_on, before.contract_on) AS contract_on,
    (
        SELECT string_agg(users.user_label, ', ' ORDER BY list_position(now.agent_ids, users.user_id))
        FROM marts.users AS users
        WHERE list_contains(now.agent_ids, users.user_id)
    ) AS agents,
    without_vat(before.commission, basis)::DECIMAL(18, 4) AS commission_before,
    CASE WHEN now.is_present THEN without_vat(now.commission, basis) END::DECIMAL(18, 4) AS commission,
    cancelled.is_in_totals IS NOT FALSE AS is_in_totals,
    (coalesce(CASE WHEN now.is_present THEN without_vat(now.commission, basis) END, 0) - coalesce(commission_before, 0))
        ::DECIMAL(18, 4) AS difference
FROM marts.sale_versions AS now
CROSS JOIN since
LEFT JOIN meta.tax_basis AS basis ON true
LEFT JOIN sales_then AS before USING (estate_id)
LEFT JOIN marts.cancelled_sales AS cancelled USING (estate_id)
WHERE now.valid_to_utc IS NULL
    AND coalesce(before.office_id = now.office_id, now.is_present)
    AND (before.estate_id IS NULL OR (now.is_present, now.commission, now.month) IS DISTINCT FROM (true, before.commission, before.month))
    AND (
        before.estate_id IS NOT NULL
        OR (now.office_id, now.month) IN (SELECT (office_id, month) FROM months_known)
        OR (now.month >= date_trunc('month', since.at_utc) AND now.office_id IN (SELECT office_id FROM months_known))
    )
ORDER BY change = 'new', abs(difference) DESC, estate_id
