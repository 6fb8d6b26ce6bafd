-- What speaks against the number?
-- One row per row of meta.conditions that is about figures of the report, month and customer of one of its offices, and per check
-- that found one of its offices, by the office, month, measure and report that the finding names. That a report is late is about
-- months that are not over.
-- Parameters: kind, id, first_month, month, measure, report
WITH sources AS (
    SELECT office_id, month, report, customer_id, is_growing
    FROM marts.office_sources
    WHERE report = getvariable('report')
        AND month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
        AND CASE getvariable('kind')
            WHEN 'user' THEN (office_id, month) IN (
                SELECT (office_id, month) FROM marts.user_month WHERE user_id = getvariable('id')
            )
            ELSE is_asked_for(office_id, NULL)
        END
),

found AS (
    SELECT
        conditions.kind, conditions.severity, conditions.customer, conditions.month, conditions.since_utc, conditions.error,
        conditions.remedy
    FROM meta.conditions AS conditions
    SEMI JOIN sources
        ON coalesce(conditions.customer, sources.customer_id) = sources.customer_id
        AND coalesce(conditions.month, sources.month) = sources.month
        AND coalesce(conditions.report, sources.report) = sources.report
        AND (sources.is_growing OR conditions.kind NOT IN ('late', 'never read'))
    WHERE conditions.is_of_figures
        AND conditions.kind <> 'check'
        AND (
            conditions.kind <> 'assumption'
            OR getvariable('report') IN (SELECT report FROM subjects_of_reports() WHERE numbers = 'budgets')
        )
    UNION ALL BY NAME
    SELECT
        'check' AS kind, checks.severity, offence ->> 'office_id' AS customer, TRY_CAST(offence ->> 'month' AS DATE) AS month,
        checks.checked_at_utc AS since_utc, checks.question AS error, 'brokerbi query ' || checks.name AS remedy
    FROM (
        SELECT *, unnest(from_json(subjects, '["JSON"]')) AS offence
        FROM meta.check_results
        WHERE row_count > 0 AND message = ''
    ) AS checks
    SEMI JOIN sources
        ON coalesce(offence ->> 'office_id', offence ->> 'earner_id') IN (sources.office_id, getvariable('id'))
        AND coalesce(TRY_CAST(offence ->> 'month' AS DATE), sources.month) = sources.month
        AND coalesce(offence ->> 'measure', getvariable('measure')) = getvariable('measure')
        AND coalesce(offence ->> 'report', sources.report) = sources.report
        AND (sources.report, checks.concerns) IN (
            SELECT (of_report.report, of_number.subject)
            FROM subjects_of_reports() AS of_report
            INNER JOIN subjects_of_reports() AS of_number USING (numbers)
        )
)

SELECT DISTINCT
    found.kind, found.severity, found.customer, found.month, local_day(found.since_utc, clock) AS noted_on, found.error,
    found.remedy
FROM found
LEFT JOIN meta.clock AS clock ON true
ORDER BY found.severity, found.kind, found.customer, found.month, found.error
