-- Which months that were over have another commission than then?
-- One row per office and month that was over at the moment that is compared with (sql/page/basis.sql), the largest change
-- first, and one that is told late of older changes of which a reason was noted since; marts.month_changes has each change. Declared VAT is taken off.
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
)

SELECT
    changes.office_id,
    any_value(changes.office_name) AS office_name,
    changes.month,
    without_vat(arg_min(changes.amount_before, changes.noted_at_utc), any_value(basis))::DECIMAL(18, 4) AS amount_before,
    without_vat(arg_max(changes.amount_after, changes.noted_at_utc), any_value(basis))::DECIMAL(18, 4) AS amount_after,
    without_vat(sum(changes.difference), any_value(basis))::DECIMAL(18, 4) AS difference,
    told.is_told_late,
    max(changes.noted_at_utc) AS noted_at_utc
FROM marts.month_changes AS changes
INNER JOIN told USING (office_id, month, noted_at_utc)
LEFT JOIN meta.tax_basis AS basis ON true
WHERE changes.measure = 'commission'
GROUP BY changes.office_id, changes.month, told.is_told_late
HAVING sum(changes.difference) <> 0
ORDER BY abs(sum(changes.difference)) DESC, changes.office_id, changes.month
