-- How new and how whole is the number, and what speaks against it?
-- One row per finding and months in a row that it is about, what is_doubt first. Reports agree where nothing differs in any
-- of the months. Only what
-- concerns the offices, months, report and measure of the number is here, once: of a user the answers for the user's
-- office in the month. That a report is late concerns a month that is not over. What a check found concerns the number
-- where one of its rows names the number's office, and the month if any. Whoever has left did so after the
-- month that is named. whose is the office, or the customer that was asked.
-- Parameters: kind, id, first_month, month, measure, report
WITH asked AS (
    SELECT coverage.office_id, coverage.month, coverage.office_name
    FROM marts.office_coverage AS coverage
    WHERE getvariable('kind') = 'chain'
    UNION
    SELECT sources.office_id, sources.month, offices.office_name
    FROM marts.office_sources AS sources
    LEFT JOIN marts.offices AS offices USING (office_id)
    WHERE getvariable('kind') = 'office' AND sources.office_id = getvariable('id')
    UNION
    SELECT office_id, month, office_name FROM marts.user_month
    WHERE getvariable('kind') = 'user' AND user_id = getvariable('id')
),

sources AS (
    SELECT
        asked.*, sources.* EXCLUDE (office_id, month), local_day(sources.fetched_at_utc, clock) AS read_on
    FROM asked
    LEFT JOIN marts.office_sources AS sources
        ON sources.office_id = asked.office_id AND sources.month = asked.month AND sources.report = getvariable('report')
    LEFT JOIN meta.clock AS clock ON true
    WHERE asked.month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
),

compared AS (
    SELECT
        sources.office_id, sources.office_name, sources.month, compared.compared, compared.difference, compared.likely_reason,
        compared.is_reconciled, local_day(compared.compared_read_at_utc, clock) AS read_on
    FROM sources
    INNER JOIN marts.reconciliation AS compared
        ON compared.office_id = sources.office_id AND compared.month = sources.month AND compared.is_reconciled IS NOT NULL
    LEFT JOIN meta.clock AS clock ON true
    WHERE starts_with(sources.report, 'commission')
        AND (getvariable('kind') <> 'user' OR compared.compared = 'user report')
        AND list_contains(
            CASE getvariable('measure')
                WHEN 'commission' THEN ['commission', 'sold commission']
                WHEN 'sold_average_commission' THEN ['sold commission', 'sold estate parts']
                WHEN 'sold_commission_percentage' THEN ['sold commission', 'sold total price']
                WHEN 'average_price' THEN ['sold total price', 'sold estate parts']
                ELSE [replace(getvariable('measure'), '_', ' ')]
            END,
            compared.measure
        )
),

found AS (
    SELECT
        CASE
            WHEN report IS NULL THEN 'not held'
            WHEN is_cut_short THEN 'cut short'
            WHEN NOT is_current THEN 'not refreshed'
            WHEN month > read_on THEN 'still to come'
            WHEN is_unfinished THEN 'not read to its end'
            WHEN is_growing THEN 'so far'
            ELSE 'the whole month'
        END AS kind,
        coalesce(is_cut_short OR is_unfinished OR NOT is_current, true) AS is_doubt,
        CASE WHEN is_doubt THEN coalesce(office_name, office_id) END AS whose,
        month,
        read_on AS noted_on,
        CASE WHEN is_cut_short OR NOT is_current THEN source_state END AS message,
        NULL::DECIMAL(28, 8) AS difference
    FROM sources
    WHERE (report IS NOT NULL OR getvariable('kind') = 'chain') AND NOT (kind = 'the whole month' AND lacks_rows)
    UNION ALL BY NAME
    SELECT
        problems.kind, true AS is_doubt, sources.customer_id AS whose, sources.month,
        local_day(problems.since_utc, clock) AS noted_on, problems.message
    FROM sources
    INNER JOIN (
        SELECT kind, report, customer, month, since_utc, nullif(concat_ws(' ', error, remedy), '') AS message
        FROM meta.conditions
        WHERE is_of_figures
            AND kind NOT IN ( -- who is refused is not refreshed, and what a check found is below, by its rows
                'no right', 'right lost', 'shut out', 'not refreshed', 'check', 'shard missing', 'shard late'
            )
    ) AS problems
        ON coalesce(problems.customer, sources.customer_id) = sources.customer_id
        AND coalesce(problems.month, sources.month) = sources.month
        AND CASE
            WHEN problems.report IS NOT NULL THEN problems.report = sources.report
            ELSE problems.kind <> 'assumption'
                OR sources.report IN (SELECT report FROM subjects_of_reports() WHERE numbers = 'budgets')
        END
        AND (sources.is_growing OR problems.kind NOT IN ('late', 'never read'))
    LEFT JOIN meta.clock AS clock ON true
    UNION ALL BY NAME
    SELECT
        checks.name AS kind, true AS is_doubt, sources.office_name AS whose, sources.month,
        local_day(checks.checked_at_utc, clock) AS noted_on, checks.question AS message
    FROM sources
    INNER JOIN (
        SELECT *, unnest(from_json(subjects, '["JSON"]')) AS offence
        FROM meta.check_results
        WHERE row_count > 0 AND message = '' AND name <> 'reports_reconcile'
    ) AS checks
        ON coalesce(offence ->> 'office_id', offence ->> 'earner_id') IN (sources.office_id, getvariable('id'))
        AND coalesce(TRY_CAST(offence ->> 'month' AS DATE), sources.month) = sources.month
        AND coalesce(offence ->> 'measure', getvariable('measure')) = getvariable('measure')
        AND coalesce(offence ->> 'report', sources.report) = sources.report
        AND (sources.report, checks.concerns) IN (
            SELECT (of_report.report, of_number.subject)
            FROM subjects_of_reports() AS of_report
            INNER JOIN subjects_of_reports() AS of_number USING (numbers)
        )
    LEFT JOIN meta.clock AS clock ON true
    UNION ALL BY NAME
    SELECT
        'reports differ' AS kind, true AS is_doubt, office_name AS whose, month, max(read_on) AS noted_on,
        string_agg(DISTINCT compared, ', ' ORDER BY compared)
        || coalesce(': ' || arg_max(likely_reason, abs(difference)), '') AS message,
        arg_max(difference, abs(difference)) AS difference
    FROM compared
    WHERE NOT is_reconciled
    GROUP BY office_id, office_name, month
    UNION ALL BY NAME
    SELECT
        'reports agree' AS kind, false AS is_doubt, compared.month, max(compared.read_on) AS noted_on,
        any_value(agreeing.reports) AS message
    FROM compared
    CROSS JOIN (
        SELECT string_agg(compared, ', ' ORDER BY compared) AS reports
        FROM (SELECT compared FROM compared GROUP BY compared HAVING bool_and(is_reconciled))
    ) AS agreeing
    WHERE agreeing.reports IS NOT NULL
    GROUP BY compared.month
    UNION ALL BY NAME
    SELECT 'has left' AS kind, false AS is_doubt, last_active_month AS month, left_directory_on AS noted_on
    FROM marts.users
    WHERE getvariable('kind') = 'user' AND user_id = getvariable('id') AND has_left
)

SELECT
    kind,
    is_doubt,
    whose,
    min(month) AS first_month,
    max(month) AS last_month,
    min(noted_on) AS noted_on,
    arg_max(difference, abs(difference)) AS difference,
    message
FROM (
    SELECT
        *,
        month - dense_rank() OVER (PARTITION BY kind, is_doubt, whose, message ORDER BY month) * INTERVAL 1 MONTH AS run
    FROM found
)
GROUP BY kind, is_doubt, whose, message, run
ORDER BY NOT is_doubt, first_month, kind, whose, message
