-- Why did these months change?
-- One row per row of sql/page/changes.sql and sale, agent or rest that explains a part of it, as marts.month_change_reasons
-- says; less than a krona is left out.
WITH since AS (
    SELECT compared_with(at_utc, newest_utc) AS at_utc
    FROM (SELECT at_utc, max(at_utc) OVER () AS newest_utc FROM meta.publications WHERE status = 'published')
),

told AS (
    SELECT
        changes.office_id,
        changes.month,
        changes.noted_at_utc,
        changes.noted_at_utc <= since.at_utc AS is_told_late
    FROM marts.month_changes AS changes
    INNER JOIN since ON changes.over_since_utc <= since.at_utc
    LEFT JOIN marts.month_change_reasons AS reasons USING (office_id, month, measure, noted_at_utc)
    WHERE changes.measure = 'commission'
    GROUP BY changes.office_id, changes.month, changes.noted_at_utc, since.at_utc
    HAVING changes.noted_at_utc > since.at_utc OR max(reasons.reason_noted_at_utc) > since.at_utc
),

reasons AS (
    SELECT
        reasons.office_id,
        reasons.month,
        reasons.kind,
        reasons.estate_id,
        any_value(reasons.street_address) AS home,
        reasons.user_id,
        reasons.other_office_id,
        reasons.other_month,
        reasons.awaited_reports,
        max(reasons.reason_noted_at_utc) AS noted_at_utc,
        told.is_told_late,
        without_vat(sum(reasons.amount), any_value(basis))::DECIMAL(18, 4) AS amount
    FROM marts.month_change_reasons AS reasons
    INNER JOIN told USING (office_id, month, noted_at_utc)
    LEFT JOIN meta.tax_basis AS basis ON true
    WHERE reasons.measure = 'commission'
    GROUP BY ALL
    HAVING abs(sum(reasons.amount)) >= 1
),

last_listed AS (
    SELECT
        versions.estate_id,
        versions.estate_number,
        versions.street_address
    FROM marts.sale_versions AS versions
    WHERE versions.is_present
    QUALIFY row_number() OVER (PARTITION BY versions.estate_id ORDER BY versions.version DESC) = 1
)

SELECT
    reasons.office_id,
    reasons.month,
    reasons.kind,
    reasons.estate_id,
    coalesce(reasons.home, last_listed.street_address) AS home,
    coalesce(last_listed.estate_number, reasons.estate_id) AS home_number,
    coalesce(users.user_label, reasons.user_id) AS agent,
    coalesce(offices.office_name, reasons.other_office_id) AS other_office,
    reasons.other_month,
    reasons.awaited_reports,
    reasons.noted_at_utc,
    reasons.is_told_late,
    reasons.amount
FROM reasons
LEFT JOIN last_listed ON last_listed.estate_id = reasons.estate_id
LEFT JOIN marts.users AS users ON users.user_id = reasons.user_id
LEFT JOIN marts.offices AS offices ON offices.office_id = reasons.other_office_id
ORDER BY reasons.office_id, reasons.month, abs(reasons.amount) DESC, reasons.kind, reasons.estate_id, agent
