-- In which past months has commission changed since the compared publication, and why?
-- One row per office, month that was over at that publication (meta.news_since), and reason in
-- marts.month_change_reasons: a sale, an agent or the rest. The largest change comes first. is_late marks an older
-- change of which a reason was found since then. Reasons below one krona are left out. A month without a reason has one
-- row, with amount null. Each row repeats the amounts of its month. Declared VAT is deducted.
WITH reported_changes AS (
    SELECT changes.*, changes.noted_at_utc <= since.since_utc AS is_late
    FROM marts.month_changes AS changes
    INNER JOIN meta.news_since AS since ON changes.over_since_utc <= since.since_utc
    LEFT JOIN (
        SELECT office_id, month, measure, noted_at_utc, max(reason_noted_at_utc) AS last_noted_at_utc
        FROM marts.month_change_reasons
        GROUP BY ALL
    ) AS reasons USING (office_id, month, measure, noted_at_utc)
    WHERE changes.measure = 'commission'
        AND (changes.noted_at_utc > since.since_utc OR reasons.last_noted_at_utc > since.since_utc)
),

months AS (
    SELECT
        office_id,
        month,
        is_late,
        any_value(office_name) AS office_name,
        arg_min(amount_before, noted_at_utc) AS amount_before,
        arg_max(amount_after, noted_at_utc) AS amount_after,
        sum(difference) AS difference,
        max(noted_at_utc) AS noted_at_utc
    FROM reported_changes
    GROUP BY office_id, month, is_late
    HAVING sum(difference) <> 0
),

reasons AS (
    SELECT
        office_id,
        month,
        reported_changes.is_late,
        reasons.kind,
        reasons.estate_id,
        any_value(reasons.street_address) AS home,
        reasons.user_id,
        reasons.other_office_id,
        reasons.other_month,
        reasons.awaited_reports,
        max(reasons.reason_noted_at_utc) AS noted_at_utc,
        sum(reasons.amount) AS amount
    FROM marts.month_change_reasons AS reasons
    INNER JOIN reported_changes USING (office_id, month, measure, noted_at_utc)
    GROUP BY ALL
    HAVING abs(sum(reasons.amount)) >= 1
),

last_listed AS (
    SELECT estate_id, estate_number
    FROM marts.sale_versions
    WHERE is_present
    QUALIFY row_number() OVER (PARTITION BY estate_id ORDER BY version DESC) = 1
)

SELECT
    office_id,
    months.office_name,
    month,
    without_vat(months.amount_before, basis)::DECIMAL(18, 4) AS amount_before,
    without_vat(months.amount_after, basis)::DECIMAL(18, 4) AS amount_after,
    without_vat(months.difference, basis)::DECIMAL(18, 4) AS difference,
    is_late,
    coalesce(reasons.noted_at_utc, months.noted_at_utc) AS noted_at_utc,
    reasons.kind,
    reasons.estate_id IS NOT NULL AS is_sale,
    reasons.home,
    coalesce(last_listed.estate_number, reasons.estate_id) AS home_number,
    coalesce(users.user_label, reasons.user_id) AS agent,
    coalesce(offices.office_name, reasons.other_office_id) AS other_office,
    reasons.other_month,
    reasons.awaited_reports,
    without_vat(reasons.amount, basis)::DECIMAL(18, 4) AS amount
FROM months
LEFT JOIN reasons USING (office_id, month, is_late)
LEFT JOIN last_listed ON last_listed.estate_id = reasons.estate_id
LEFT JOIN marts.users AS users ON users.user_id = reasons.user_id
LEFT JOIN marts.offices AS offices ON offices.office_id = reasons.other_office_id
LEFT JOIN meta.tax_basis AS basis ON true
ORDER BY
    abs(months.difference) DESC, office_id, month, is_late, abs(reasons.amount) DESC, reasons.kind, reasons.estate_id, agent
