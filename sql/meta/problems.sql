-- What is wrong or unsure right now?
-- One row per cause: what meta.conditions has of one cause, refusal or lateness together, everything else row by row.
-- Columns:
--   kind: what sort of problem it is
--   severity: error or warning
--   report: the report, where it is about one; several are named in message
--   customer: the customer that was asked, where it is about one; several are named in message
--   month: first day of the month, where it is about one; several are named in message
--   since_utc: when it was first or last noticed, in UTC; null where nobody can say
--   cause: the kind of error in a word, where something failed
--   check_name: the check that found it, where one did
--   message: what is wrong, in a sentence
--   remedy: what to do about it; null where the message says it, or nothing is to be done
WITH failed AS (
    SELECT
        CASE kind WHEN 'failed' THEN 'failed month' ELSE kind END AS kind,
        severity,
        count(*) AS number,
        coalesce(any_value(cause) FILTER (cause = 'HostDown'), any_value(cause)) AS cause,
        CASE WHEN count(DISTINCT report) = 1 THEN any_value(report) END AS report,
        CASE WHEN count(DISTINCT customer) = 1 THEN any_value(customer) END AS customer,
        CASE WHEN count(*) = 1 THEN any_value(month) END AS month,
        max(since_utc) AS since_utc,
        coalesce(arg_max(error, since_utc) FILTER (cause = 'HostDown'), arg_max(error, since_utc)) AS words,
        coalesce(arg_max(remedy, since_utc) FILTER (cause = 'HostDown'), arg_max(remedy, since_utc)) AS remedy,
        string_agg(DISTINCT report, ', ' ORDER BY report) AS reports,
        CASE
            WHEN count(DISTINCT customer) > 4 THEN count(DISTINCT customer) || ' customers'
            ELSE string_agg(DISTINCT customer, ', ' ORDER BY customer)
        END AS customers,
        CASE count(DISTINCT month)
            WHEN 0 THEN ''
            WHEN 1 THEN ' in ' || strftime(min(month), '%Y-%m')
            ELSE ' in ' || count(DISTINCT month) || ' months from ' || strftime(min(month), '%Y-%m') || ' to '
                || strftime(max(month), '%Y-%m')
        END AS months
    FROM meta.conditions
    WHERE kind IN ('failed', 'held back')
    GROUP BY
        kind,
        severity,
        trouble,
        CASE WHEN trouble IS NULL THEN customer END,
        CASE WHEN trouble IS NULL THEN error END
),

refused AS (
    SELECT
        access.*,
        conditions.severity,
        strftime(last_success_utc, '%Y-%m-%d (UTC)') AS answered_on
    FROM meta.access
    INNER JOIN meta.freshness AS freshness
        ON (freshness.report, freshness.customer, freshness.state) = (access.report, access.customer, 'no access')
    INNER JOIN meta.conditions AS conditions
        ON conditions.customer = access.customer AND coalesce(conditions.report, access.report) = access.report
        AND conditions.kind IN ('shut out', 'right lost', 'no right')
),

found AS (
    SELECT
        kind, severity, report, customer, month, since_utc, cause, NULL AS check_name,
        words || CASE
            WHEN number = 1 THEN ''
            ELSE CASE WHEN ends_with(words, '.') THEN '' ELSE '.' END || ' It concerns ' || reports || ' of '
                || customers || months || '.'
        END AS message,
        remedy
    FROM failed
    UNION ALL
    SELECT
        'no access', severity, CASE WHEN count(*) = 1 THEN any_value(report) END, customer, NULL, max(denied_at_utc),
        'Forbidden', NULL,
        'The service refuses '
        || CASE
            WHEN count(*) = 1 THEN 'this report'
            ELSE count(*) || ' reports (' || string_agg(report, ', ' ORDER BY report) || ')'
        END
        || ' for this customer' || coalesce(', though it answered on ' || answered_on || ': ask for the right', '')
        || CASE WHEN count(*) = 1 THEN '; it is asked again on another day.' ELSE '; asked again on another day.' END,
        NULL
    FROM refused
    GROUP BY severity, customer, answered_on
    UNION ALL
    SELECT
        'late', severity, CASE WHEN count(*) = 1 THEN any_value(report) END, customer, NULL, min(last_success_utc),
        any_value(cause), 'reports_are_fresh',
        CASE kind WHEN 'never read' THEN 'Never read so far' ELSE 'No success for a day and a half' END
        || CASE WHEN count(*) = 1 THEN '' ELSE ': ' || string_agg(report, ', ' ORDER BY report) END || '.',
        any_value(remedy)
    FROM meta.conditions
    INNER JOIN meta.freshness USING (report, customer)
    WHERE kind IN ('late', 'never read')
    GROUP BY kind, severity, customer
    UNION ALL
    SELECT
        kind, severity, report, customer, month, since_utc, CASE WHEN kind <> 'check' THEN cause END,
        CASE kind
            WHEN 'quarantine' THEN 'quarantine_is_empty'
            WHEN 'assumption' THEN 'assumptions_hold'
            WHEN 'overlap' THEN 'customers_do_not_overlap'
            WHEN 'not refreshed' THEN 'numbers_are_refreshed'
            WHEN 'check' THEN cause
        END,
        error, remedy
    FROM meta.conditions
    WHERE kind NOT IN (
        'failed', 'held back', 'shut out', 'right lost', 'no right', 'late', 'never read', 'unpublished'
    )
)

SELECT
    kind::VARCHAR AS kind,
    severity::VARCHAR AS severity,
    report::VARCHAR AS report,
    customer::VARCHAR AS customer,
    month::DATE AS month,
    since_utc::TIMESTAMP AS since_utc,
    cause::VARCHAR AS cause,
    check_name::VARCHAR AS check_name,
    message::VARCHAR AS message,
    remedy::VARCHAR AS remedy
FROM found
ORDER BY severity, kind, report, customer, month
