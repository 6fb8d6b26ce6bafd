-- Why did the number change after its month was over?
-- One row per row of marts.month_change_reasons. The amounts of an office add up to its changes.
-- For a user, the rows are the user's own commission, and the sales whose latest agents include the user, with the
-- office's amounts.
-- Parameters: kind, id, month, measure
SELECT
    local_day(reasons.noted_at_utc) AS noted_on,
    reasons.month,
    coalesce(reasons.office_name, reasons.office_id) AS office,
    reasons.kind,
    coalesce(reasons.street_address, reasons.estate_id, users.user_label, reasons.user_id) AS what,
    reasons.amount,
    reasons.share,
    reasons.writing_change,
    reasons.valuation_change,
    coalesce(offices.office_name, reasons.other_office_id) AS other_office,
    reasons.other_month,
    reasons.awaited_reports,
    coalesce(reasons.estate_id, reasons.user_id) AS id
FROM marts.month_change_reasons AS reasons
LEFT JOIN marts.users AS users ON users.user_id = reasons.user_id
LEFT JOIN marts.offices AS offices ON offices.office_id = reasons.other_office_id
WHERE reasons.month = getvariable('month')::DATE
    AND CASE getvariable('kind')
        WHEN 'user' THEN
            reasons.measure = replace(getvariable('measure'), 'sold_commission', 'commission')
            AND (reasons.user_id = getvariable('id') OR reasons.estate_id IN (
                SELECT estate_id FROM marts.sale_versions WHERE list_contains(agent_ids, getvariable('id'))
            ))
            AND (reasons.office_id, reasons.month) IN (
                SELECT (office_id, month) FROM marts.user_month WHERE user_id = getvariable('id')
            )
        ELSE reasons.measure = getvariable('measure') AND is_of_number(reasons.office_id, NULL)
    END
ORDER BY reasons.month, reasons.noted_at_utc, office, abs(reasons.amount) DESC, what, id
