-- What speaks against the number?
-- One row per kind, error and customer, office or user of marts.doubts, with its first and last month.
-- A doubt counts unless it names another report, measure, month, office, user or customer than the number has. A check
-- counts only if it names an office or user. Undeclared VAT counts only if the number is a commission.
-- Parameters: kind, id, month, measure, report
WITH sources AS (
    SELECT office_id, month, report, customer_id, is_growing
    FROM marts.office_sources
    WHERE report = getvariable('report')
        AND month = getvariable('month')::DATE
        AND CASE getvariable('kind')
            WHEN 'user' THEN (office_id, month) IN (
                SELECT (office_id, month) FROM marts.user_month WHERE user_id = getvariable('id')
            )
            ELSE is_of_number(office_id, NULL)
        END
)

SELECT
    doubts.kind,
    doubts.severity,
    coalesce(doubts.earner_id, doubts.customer) AS customer,
    min(doubts.month) AS first_month,
    max(doubts.month) AS last_month,
    local_day(doubts.since_utc) AS noted_on,
    doubts.error,
    doubts.remedy
FROM marts.doubts AS doubts
SEMI JOIN sources
    ON coalesce(doubts.report, sources.report) = sources.report
    AND coalesce(doubts.customer, sources.customer_id) = sources.customer_id
    AND coalesce(doubts.month, sources.month) = sources.month
    AND coalesce(doubts.earner_id, sources.office_id) IN (sources.office_id, getvariable('id'))
    AND (sources.is_growing OR NOT doubts.is_of_growing)
WHERE coalesce(doubts.measure, getvariable('measure')) = getvariable('measure')
    AND coalesce(doubts.numbers IN (SELECT numbers FROM meta.subjects WHERE report = getvariable('report')), true)
    AND (doubts.kind <> 'check' OR doubts.earner_id IS NOT NULL)
    AND (doubts.kind <> 'tax basis' OR contains(getvariable('measure'), 'commission'))
GROUP BY ALL
ORDER BY doubts.severity, doubts.kind, customer, first_month, doubts.error
