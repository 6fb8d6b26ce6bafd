-- Which closed months have changed since, by how much, and why?
-- One row per office, month and build that found a different commission in the office report.
--
-- A sale counts at the offices of its agents by their shares, as in the office report, not at the listing office. The
-- shares of a sale that vanished are unknown, so it counts whole at its listing office. A sale that moved is gone from
-- one month and new in the other. The unexplained rest is `open` until the reports that may explain it are read, and
-- `nobody` if they show that it belongs to no sale and no agent. marts.month_change_reasons has each reason.
-- Parameters: year, office
SELECT
    changes.office_name,
    changes.month,
    changes.noted_at_utc,
    (changes.amount_before / vat_divisor)::DECIMAL(18, 4) AS commission_before,
    (changes.amount_after / vat_divisor)::DECIMAL(18, 4) AS commission_after,
    (changes.difference / vat_divisor)::DECIMAL(18, 4) AS commission_change,
    coalesce(sum(reasons.amount / vat_divisor) FILTER (reasons.estate_id IS NOT NULL), 0)::DECIMAL(18, 4) AS change_of_sales,
    coalesce(sum(reasons.amount / vat_divisor) FILTER (reasons.user_id IS NOT NULL), 0)::DECIMAL(18, 4) AS change_of_writings_and_valuations,
    coalesce(sum(reasons.amount / vat_divisor) FILTER (reasons.kind = 'nobody'), 0)::DECIMAL(18, 4) AS change_of_nobody,
    coalesce(sum(reasons.amount / vat_divisor) FILTER (reasons.kind = 'open'), 0)::DECIMAL(18, 4) AS still_open,
    any_value(reasons.awaited_reports) AS awaited_reports,
    count(reasons.estate_id) AS sales,
    string_agg(
        reasons.kind || ' ' || coalesce(reasons.street_address, reasons.estate_id, reasons.user_name, reasons.user_id)
        || coalesce(' (other month ' || strftime(reasons.other_month, '%Y-%m') || ')', ''), ', '
        ORDER BY abs(reasons.amount) DESC
    ) AS changes,
    divided_basis AS commission_basis,
    changes.office_id
FROM marts.month_changes AS changes
LEFT JOIN marts.month_change_reasons AS reasons USING (office_id, month, measure, noted_at_utc)
CROSS JOIN marts.tax_basis
WHERE changes.measure = 'commission'
    AND year(changes.month) = coalesce(getvariable('year'), year(changes.month))
    AND changes.office_id = coalesce(getvariable('office'), changes.office_id)
GROUP BY ALL
ORDER BY changes.noted_at_utc DESC, max(abs(changes.difference)) DESC, changes.office_id, changes.month;
