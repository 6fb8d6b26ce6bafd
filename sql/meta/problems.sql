-- What is wrong or unsure right now?
-- One row per cause: months that failed for the same reason, a refusal, rows in quarantine, something late, not
-- refreshed any more, changed or not as assumed; meta.open_failures has each of the months.
-- What failed of a customer or report that is switched off by now is nobody's problem any more.
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
        *,
        CASE status WHEN 'failed' THEN 'failed month' ELSE 'held back' END AS kind,
        CASE
            WHEN error_kind IN ('Unreachable', 'HostDown', 'AllRefused') THEN 'service down'
            -- what made a run give up is the same outage
            WHEN error_kind = 'Unavailable' AND bool_or(error_kind = 'HostDown') OVER () THEN 'service down'
            WHEN error_kind = 'Unauthorized' THEN 'login ' || coalesce(login, '')
            WHEN error_kind = 'login corrected' THEN error_kind
        END AS common_cause
    FROM meta.open_failures
),

causes AS (
    SELECT
        kind,
        count(*) AS number,
        coalesce(any_value(error_kind) FILTER (error_kind = 'HostDown'), any_value(error_kind)) AS cause,
        CASE WHEN count(DISTINCT report) = 1 THEN any_value(report) END AS report,
        CASE WHEN count(DISTINCT customer) = 1 THEN any_value(customer) END AS customer,
        CASE WHEN count(*) = 1 THEN any_value(month) END AS month,
        max(failed_at_utc) AS since_utc,
        coalesce(
            arg_max(error, failed_at_utc) FILTER (error_kind = 'HostDown'), arg_max(error, failed_at_utc)
        ) AS words,
        coalesce(
            arg_max(remedy, failed_at_utc) FILTER (error_kind = 'HostDown'), arg_max(remedy, failed_at_utc)
        ) AS remedy,
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
    FROM failed
    GROUP BY
        kind,
        common_cause,
        CASE WHEN common_cause IS NULL THEN customer END,
        CASE WHEN common_cause IS NULL THEN error END
),

overlapping AS (
    SELECT
        checked_at_utc,
        unnest(from_json(
            sample,
            '[{"customer_id": "VARCHAR", "yielding_customer_id": "VARCHAR", "shared_offices": "VARCHAR"}]'
        )) AS pair
    FROM meta.check_results
    WHERE name = 'customers_do_not_overlap' AND message = ''
),

not_refreshed AS (
    SELECT
        checked_at_utc,
        unnest(from_json(
            sample,
            '[{"customer_id": "VARCHAR", "source_state": "VARCHAR", "offices": "VARCHAR", "reports": "VARCHAR",
            "last_read_utc": "VARCHAR"}]'
        )) AS source
    FROM meta.check_results
    WHERE name = 'numbers_are_refreshed' AND message = ''
),

-- a refusal concerns its reports only, and is told with them
refused AS (
    SELECT
        access.*,
        strftime(last_success_utc, '%Y-%m-%d (UTC)') AS answered_on,
        list_contains(string_split(source.reports, ', '), access.report) AS is_counted,
        source.offices
    FROM meta.access
    INNER JOIN meta.freshness AS freshness
        ON (freshness.report, freshness.customer, freshness.state) = (access.report, access.customer, 'no access')
    LEFT JOIN not_refreshed
        ON source.customer_id = access.customer AND source.source_state = 'access refused'
),

assumptions AS (
    SELECT
        found.query,
        tables.report AS table_report,
        state,
        message,
        CASE
            WHEN NOT contains(query, 'budget') THEN NULL
            WHEN ends_with(query, 'commission') THEN 'commission'
            WHEN ends_with(query, 'crm') THEN 'meetings'
            ELSE 'homes'
        END AS budget,
        state = 'fits' AND row_count > 0 AND budget IS NOT NULL AS is_read
    FROM meta.assumptions AS found
    LEFT JOIN meta.tables AS tables
        ON 'bi.' || tables.table_name = regexp_replace(found.source, '_history$', '')
),

differing AS (
    SELECT DISTINCT
        report,
        message,
        CASE
            WHEN budget IS NULL THEN NULL
            WHEN NOT any_read THEN
                'Budgets cannot be read, so these marts are empty: marts.budgets and all of budgets and actuals'
            WHEN NOT this_read THEN 'Budgets of ' || budget || ' cannot be read, so no mart has them'
            ELSE 'Budgets of ' || budget || ' come from another report, but one of them cannot be read'
        END AS consequence
    FROM (
        SELECT
            *,
            bool_or(is_read) OVER () AS any_read,
            bool_or(is_read) OVER (PARTITION BY budget) AS this_read,
            max(table_report) OVER (PARTITION BY query) AS report
        FROM assumptions
    )
    WHERE state = 'differs'
),

-- not in the file of a rehearsal, whose days are as they were said to be
ahead AS (
    SELECT report, customer, month, fetched_at_utc, make_timestamp(epoch_us(now())) AS now_utc
    FROM meta.months
    WHERE fetched_at_utc > make_timestamp(epoch_us(now())) + INTERVAL 1 MINUTE
        AND NOT EXISTS (FROM meta.storage WHERE is_rehearsal)
),

found AS (
    SELECT
        kind, 'error' AS severity, report, customer, month, since_utc, cause, NULL AS check_name,
        words || CASE
            WHEN number = 1 THEN ''
            ELSE CASE WHEN ends_with(words, '.') THEN '' ELSE '.' END || ' It concerns ' || reports || ' of '
                || customers || months || '.'
        END AS message,
        remedy
    FROM causes
    UNION ALL
    SELECT
        'clock ahead', 'error', CASE WHEN count(DISTINCT report) = 1 THEN any_value(report) END, customer, NULL,
        min(fetched_at_utc), NULL, NULL,
        'What was read of ' || string_agg(DISTINCT report, ', ' ORDER BY report) || ' is dated up to '
        || ceil(epoch(max(fetched_at_utc - now_utc)) / 3600)::BIGINT || ' hours later than now'
        || CASE WHEN count(month) > 0 THEN ', ' || count(month) || ' months' ELSE '' END
        || ': the clock was ahead, or another day was rehearsed here.',
        'See that the clock of this machine is right; the next sync asks again and corrects the dates.'
    FROM ahead
    GROUP BY customer
    UNION ALL
    SELECT
        'no access', CASE WHEN answered_on IS NULL THEN 'warning' ELSE 'error' END,
        CASE WHEN count(*) = 1 THEN any_value(report) END, customer, NULL, max(denied_at_utc), 'Forbidden', NULL,
        'The service refuses '
        || CASE
            WHEN count(*) = 1 THEN 'this report'
            ELSE count(*) || ' reports (' || string_agg(report, ', ' ORDER BY report) || ')'
        END
        || ' for this customer' || coalesce(', though it answered on ' || answered_on || ': ask for the right', '')
        || CASE WHEN count(*) = 1 THEN '; it is asked again on another day.' ELSE '; asked again on another day.' END
        || coalesce(
            ' Until then its old answer counts for ' || any_value(offices) FILTER (is_counted)
            || ', where nobody else answers: ' || string_agg(report, ', ' ORDER BY report) FILTER (is_counted) || '.', ''
        ),
        NULL
    FROM refused
    GROUP BY customer, answered_on
    UNION ALL
    SELECT
        'changes unknown', 'warning', asked_of, customer, NULL, max(fetched_at_utc), NULL, NULL,
        'The service did not tell which sales were changed, so older months are read again only once in a calendar '
        || 'month: ' || arg_max(error, fetched_at_utc),
        NULL
    FROM meta.probes
    ANTI JOIN (FROM failed WHERE common_cause IS NOT NULL) USING (customer)
    GROUP BY asked_of, customer
    HAVING arg_max(status, fetched_at_utc) = 'failed'
    UNION ALL
    SELECT
        'quarantine', 'warning', report, customer, month, fetched_at_utc, NULL, 'quarantine_is_empty',
        "rows" || ' rows of ' || table_name || ' were not loaded: ' || reason,
        NULL
    FROM meta.quarantine
    UNION ALL
    SELECT
        'late', 'warning', CASE WHEN count(*) = 1 THEN any_value(report) END, customer, NULL, min(last_success_utc),
        state, 'reports_are_fresh',
        CASE state WHEN 'never read' THEN 'Never read so far' ELSE 'No success for a day and a half' END
        || CASE WHEN count(*) = 1 THEN '' ELSE ': ' || string_agg(report, ', ' ORDER BY report) END || '.',
        NULL
    FROM meta.freshness
    SEMI JOIN (FROM meta.conditions WHERE kind IN ('late', 'never read')) AS conditions USING (report, customer)
    GROUP BY customer, state
    UNION ALL
    SELECT
        'changed column', 'warning', tables.report, NULL, NULL, changes.changed_at_utc, NULL, NULL,
        changes.table_name || '.' || changes.column_name || ' turned from ' || changes.from_type || ' into '
        || changes.to_type,
        NULL
    FROM meta.column_changes AS changes
    INNER JOIN meta.tables AS tables USING (table_name)
    WHERE changes.load_id IS NOT NULL AND changes.from_type <> 'NULL'
    UNION ALL
    SELECT
        'assumption', 'warning', CASE WHEN count(DISTINCT report) = 1 THEN any_value(report) END, NULL, NULL, NULL,
        NULL, 'assumptions_hold',
        coalesce(consequence || ': ', '') || string_agg(message, '; ' ORDER BY message),
        NULL
    FROM differing
    GROUP BY consequence, CASE WHEN consequence IS NULL THEN message END
    UNION ALL
    SELECT
        'overlap', 'warning', NULL, pair.yielding_customer_id, NULL, checked_at_utc, NULL, 'customers_do_not_overlap',
        pair.customer_id || ' answers for ' || pair.shared_offices
        || ' as well; each office is counted once, but asked for twice',
        NULL
    FROM overlapping
    UNION ALL
    SELECT
        'not refreshed', 'warning', NULL, source.customer_id, NULL, checked_at_utc, source.source_state,
        'numbers_are_refreshed',
        'Nobody else answers for ' || source.offices || ', so numbers of ' || source.customer_id || ' count as read on '
        || left(source.last_read_utc, 10) || ' (UTC) and will not change: ' || source.source_state,
        NULL
    FROM not_refreshed
    WHERE source.source_state <> 'access refused'
    UNION ALL
    SELECT
        'check', severity, NULL, NULL, NULL, checked_at_utc, NULL, name,
        CASE
            WHEN message <> '' THEN 'The check ' || name || ' could not run: ' || message
            ELSE question || ' ' || row_count || ' rows: ' || name
        END,
        NULL
    FROM meta.check_results
    WHERE row_count > 0
        AND (message <> '' OR name NOT IN (
            'assumptions_hold', 'customers_do_not_overlap', 'numbers_are_refreshed', 'quarantine_is_empty',
            'reports_are_fresh'
        ))
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
