-- What needs attention, and what to do about it?
-- One row per condition. Nothing is expected of a report or customer that is switched off, but its loaded rows may
-- have conditions.
-- Conditions that only a running process knows, such as a silent daemon, are not here.
-- Columns:
--   kind: the kind of condition, one of meta.kinds with known_by "file"
--   severity: error or warning; the severity of its kind if the kind has only one
--   report: name of the report; null if the condition is about several, or all of a customer
--   customer: the requested customer; null if the condition is about all
--   month: first day of the month, if the condition is about one
--   since_utc: since when it has been true, in UTC; null if unknown
--   cause: the kind of error in a word, a state, or the name of the check, version or lake; null if the error says it
--   error: the issue, in a sentence
--   remedy: what to do about it; null if nothing is to be done, or the error says it. In a command, ID, NAME and
--     MONTH stand for the customer, report and month of the row
--   login: where the denied login is set
--   trouble: the cause that several conditions share: the service (down), a refusal of all customers, or a login; null
--     if the cause is not shared
--   check_name: the check that found it, if one did
--   row_count: how many rows the condition concerns, if they were counted
--   is_of_figures: whether figures may be missing or doubtful while the condition lasts
--   cause_key: equal for conditions that are one problem, mostly those with the same cause and remedy. Denials of
--     access are one problem for all customers that are denied the same reports
--   cause_place: 1 for the condition that represents its cause_key: the one that made a run give up or, if there is
--     none, the latest; the others follow
WITH open_failures AS MATERIALIZED (FROM meta.open_failures),  -- because each of these views is read twice

freshness AS MATERIALIZED (FROM meta.freshness),

failed AS (
    SELECT
        * REPLACE (CASE
            WHEN trouble = 'login' THEN 'login ' || coalesce(login, '')
            -- these requests failed in the outage that ended the run
            WHEN error_kind IN ('Unavailable', 'NotJson') AND bool_or(error_kind = 'HostDown') OVER () THEN 'service'
            ELSE trouble
        END AS trouble),
        regexp_replace(split_part(error, ';', 1), '[0-9]+', '#', 'g') AS gist
    FROM open_failures
),

latest_probes AS (
    SELECT *, regexp_replace(split_part(error, ';', 1), '[0-9]+', '#', 'g') AS gist
    FROM meta.probes
    QUALIFY row_number() OVER (PARTITION BY asked_of, customer ORDER BY fetched_at_utc DESC) = 1
),

requested_reports AS (
    SELECT freshness.*, coalesce(access.since_utc, access.denied_at_utc) AS denied_since_utc
    FROM freshness
    LEFT JOIN meta.access AS access USING (report, customer)
    WHERE state <> 'switched off' AND NOT (state = 'never read' AND last_failure_utc IS NULL)
),

-- Customers with access to less than half of the requested reports, and with no other answer or failure since.
denied_customers AS (
    SELECT customer, max(denied_since_utc) AS since_utc, count(last_success_utc) > 0 AS was_answered
    FROM requested_reports
    GROUP BY customer
    HAVING count(denied_since_utc) > greatest(1, count(*) / 2)
        AND max(greatest(last_success_utc, last_failure_utc)) FILTER (denied_since_utc IS NULL) >= since_utc IS NOT TRUE
),

latest AS (
    SELECT
        arg_max(at_utc, rowid) AS at_utc,
        arg_max(status, rowid) AS status,
        arg_max(name IS NULL, rowid) AS made_no_file,
        arg_max(reasons, rowid) AS reasons,
        coalesce(max(last_load_number) FILTER (status = 'published'), 0) AS seen,
        arg_max(at_utc, rowid) FILTER (status = 'published') AS published_at_utc
    FROM meta.publications
),

unpublished AS (
    SELECT
        coalesce(min(loaded_at_utc), any_value(latest.at_utc)) AS since_utc,
        any_value(latest.status) AS status,
        any_value(latest.made_no_file) AS made_no_file,
        any_value(array_to_string(latest.reasons, '; ')) AS why
    FROM latest
    LEFT JOIN meta.loads ON load_number > seen OR (load_number > 0 AND loaded_at_utc > published_at_utc AND fetched_at_utc <= published_at_utc)
    HAVING any_value(latest.made_no_file) OR count(loaded_at_utc) > 0
),

rolled_back AS (
    SELECT
        arg_max(at_utc, rowid) AS since_utc,
        arg_max(status, rowid) AS status,
        arg_max(name, rowid) AS name,
        arg_max(name, rowid) FILTER (status = 'published') AS latest_name
    FROM meta.publications
    WHERE name IS NOT NULL
    HAVING arg_max(status, rowid) = 'rolled back' AND arg_max(name, rowid) <> latest_name
),

customers_found AS (
    SELECT
        name,
        since_utc,
        unnest(from_json(
            subjects,
            '[{"customer_id": "VARCHAR", "yielding_customer_id": "VARCHAR", "shared_offices": "VARCHAR",
            "is_contained": "BOOLEAN", "offices": "VARCHAR", "reports": "VARCHAR", "last_read_utc": "VARCHAR"}]'
        )) AS found
    FROM meta.check_results
    WHERE message = '' AND name IN ('customers_do_not_overlap', 'numbers_are_refreshed')
),

-- Columns that marts need and that are missing in every answer of a report's latest 12 hours.
missing_columns AS (
    SELECT
        report,
        list_reduce(list(missing), lambda these, others: list_intersect(these, others)) AS columns
    FROM (
        FROM meta.loads
        WHERE status = 'loaded' AND "rows" > 0
        QUALIFY fetched_at_utc > max(fetched_at_utc) OVER (PARTITION BY report) - INTERVAL 12 HOUR
    )
    GROUP BY report
    HAVING len(columns) > 0
),

pushed_budgets AS (
    SELECT
        customer,
        month,
        office_id,
        user_id,
        max(sent_at_utc) AS sent_at_utc,
        arg_max(status, (noted_at_utc, sent_count)) FILTER (status NOT IN ('planned', 'refused')) AS status
    FROM meta.budget_pushes
    GROUP BY customer, month, office_id, user_id
),

all_conditions AS (
    SELECT
        status AS kind, report, customer, month, since_utc, error_kind AS cause, error,
        coalesce(
            remedy,
            CASE WHEN error_kind = 'UnreadableRows'
                THEN 'If its rows or fields have moved (`brokerbi shapes --report ' || report || '` shows what arrived), correct its '
                    || 'shape in shapes.toml and run `brokerbi sync`; otherwise ask the service''s support about it.'
                ELSE 'The next sync requests it again. If it fails again, ask the service''s support about it.' END
        ) AS remedy,
        login, trouble, gist
    FROM failed ANTI JOIN (FROM requested_reports WHERE state = 'no access') USING (report, customer)
    UNION ALL BY NAME
    SELECT
        'access denied' AS kind, customer, since_utc, 'Forbidden' AS cause, 'Access to all or most reports is denied (403).' AS error,
        CASE WHEN was_answered THEN 'Ask the service''s support to restore the access'
            ELSE 'Check the customer id and the access of the login' END
        || ', or switch the customer off (`active = false`). `brokerbi sync --refresh --customer ID` requests it before tomorrow.' AS remedy
    FROM denied_customers
    UNION ALL BY NAME
    SELECT
        CASE WHEN last_success_utc IS NULL THEN 'no access' ELSE 'access lost' END AS kind,
        report, customer, denied_since_utc AS since_utc, 'Forbidden' AS cause,
        CASE WHEN last_success_utc IS NULL THEN 'Access is denied (403).'
            ELSE 'Access was lost: requests were answered before and are denied now (403). Loaded rows stay; requests are sent again each day.' END AS error,
        'Ask the service''s support for access' || CASE
            WHEN last_success_utc IS NULL THEN ', or switch the report off (`BROKERBI_REPORTS=-name`).'
            ELSE '. `brokerbi sync --refresh --customer ID --report NAME --from MONTH` requests it before tomorrow.' END AS remedy
    FROM requested_reports
    ANTI JOIN denied_customers USING (customer)
    WHERE state = 'no access'
    UNION ALL BY NAME
    SELECT
        CASE WHEN last_success_utc IS NULL THEN 'never read' ELSE 'late' END AS kind, report,
        customer, due_utc AS since_utc, state AS cause,
        CASE WHEN last_success_utc IS NULL THEN 'The report has never been read.'
            ELSE 'The report has not been read for ' || late_after_hours || ' hours.' END AS error,
        CASE WHEN last_success_utc IS NULL THEN 'Run `brokerbi sync`, launch a backfill, or wait for the next nightly run.'
            ELSE 'Run `brokerbi sync`, and check that nightly runs start: the schedule `nightly` and the daemon, or cron.' END AS remedy,
        'reports_are_fresh' AS check_name
    FROM freshness
    CROSS JOIN meta.deadlines
    -- a customer that was just added may still be read for the first time
    SEMI JOIN (FROM meta.loads, meta.current_moment WHERE fetched_at_utc < now_utc - INTERVAL 2 HOUR) AS earlier USING (customer)
    ANTI JOIN open_failures AS failed
        ON (failed.report, failed.customer) = (freshness.report, freshness.customer)
        AND coalesce(failed_at_utc > last_success_utc + INTERVAL 12 HOUR, true)
    WHERE is_late AND state <> 'no access' AND (last_success_utc IS NOT NULL OR EXISTS (FROM meta.publications))
    UNION ALL BY NAME
    SELECT
        'unpublished' AS kind, since_utc, status AS cause,
        CASE WHEN made_no_file OR since_utc < now_utc - INTERVAL 3 HOUR THEN 'error' ELSE 'warning' END AS severity,
        CASE WHEN made_no_file THEN 'The latest file was not published: ' || why
            ELSE 'Loads since ' || strftime(since_utc, '%Y-%m-%d %H:%M') || ' UTC are not published.' END AS error,
        CASE WHEN status = 'refused' THEN 'The earlier file stays until the check passes: correct the cause, then run `brokerbi publish`.'
            WHEN made_no_file THEN 'Correct the cause, then run `brokerbi publish`.'
            ELSE 'Run `brokerbi publish`; if Dagster should have done so, look at the latest run of its job `publish`.' END AS remedy
    FROM unpublished, meta.current_moment
    UNION ALL BY NAME
    SELECT
        'rolled back' AS kind, since_utc, name AS cause,
        'Analysts have version ' || name || ', not the latest one, ' || latest_name || '.' AS error,
        'Run `brokerbi publish` once the cause is corrected; the next nightly run publishes as well.' AS remedy
    FROM rolled_back
    UNION ALL BY NAME
    SELECT
        'quarantine' AS kind, report, customer, month, min(fetched_at_utc) AS since_utc, 'quarantine' AS cause,
        'Rows were not loaded, mostly of ' || arg_max(table_name || ': ' || reason, "rows") AS error,
        'To see them: `brokerbi query "FROM meta.quarantine"`. Ask the service''s support to correct them.' AS remedy,
        'quarantine_is_empty' AS check_name, sum("rows") AS row_count
    FROM meta.quarantine
    GROUP BY report, customer, month
    UNION ALL BY NAME
    SELECT
        'check' AS kind, severity, since_utc, name AS cause, finding AS error,
        CASE WHEN message = '' THEN 'To see the rows: `brokerbi query ' || name || '`. If they are corrected, load them again (`brokerbi sync --refresh`).' END AS remedy,
        name AS check_name, row_count
    FROM meta.check_results
    WHERE row_count > 0
        AND NOT EXISTS (FROM latest WHERE status = 'refused' AND list_contains(reasons, finding))  -- *unpublished* says it
        AND (message <> '' OR name NOT IN (
            'customers_do_not_overlap', 'numbers_are_refreshed', 'quarantine_is_empty', 'reports_are_fresh'
        ))
    UNION ALL BY NAME
    SELECT
        'changes unknown' AS kind, asked_of AS report, customer, fetched_at_utc AS since_utc, 'changes' AS cause,
        'The service did not report which sales changed; changes in older months will be noticed only when '
        || 'those months are next due: ' || error AS error,
        CASE note WHEN 'no access' THEN 'Tomorrow''s' ELSE 'The next' END || ' nightly run (or now `brokerbi sync --customer ID`) requests them again.' AS remedy
    FROM latest_probes AS probes
    LEFT JOIN meta.customers AS customers USING (customer)
    LEFT JOIN meta.reports AS reports ON reports.report = asked_of
    ANTI JOIN failed
        ON (failed.gist = probes.gist AND (failed.customer = probes.customer OR trouble = 'service'))
        OR (failed.customer = probes.customer AND (trouble IN ('service', 'refusal') OR (failed.report = asked_of AND trouble <> '')))
    ANTI JOIN requested_reports AS denied ON denied.state = 'no access' AND denied.customer = probes.customer AND denied.report = asked_of
    WHERE coalesce(is_active, true) AND coalesce(is_on, true) AND probes.status = 'failed'
        -- unless all months were read since
        AND (SELECT min(fetched_at_utc) FROM meta.months AS held WHERE (held.report, held.customer) = (asked_of, probes.customer)) > probes.fetched_at_utc IS NOT TRUE
    UNION ALL BY NAME
    SELECT
        'changed column' AS kind, tables.report, changes.changed_at_utc AS since_utc,
        changes.table_name || '.' || changes.column_name || ' changed from ' || changes.from_type || ' into '
        || changes.to_type AS error
    FROM meta.column_changes AS changes
    INNER JOIN meta.tables AS tables USING (table_name)
    WHERE changes.load_id IS NOT NULL AND changes.from_type <> 'NULL'
    UNION ALL BY NAME
    SELECT
        'column missing' AS kind, report,
        'No row has ' || array_to_string(columns, ', ') || ', so columns made from it are empty.' AS error,
        'Name its field in shapes.toml, or write "-" if the service has none: `brokerbi shapes --report ' || report
        || '` shows what arrives.' AS remedy
    FROM missing_columns
    UNION ALL BY NAME
    SELECT
        'overlap' AS kind, found.yielding_customer_id AS customer, since_utc,
        found.customer_id || ' answers for ' || CASE WHEN found.is_contained THEN 'the same offices' ELSE found.shared_offices END
        || ' as well; each office is counted once, but requested twice' AS error,
        CASE WHEN found.is_contained THEN 'With ' || found.customer_id || ' active, each customer named here can be switched off (`active = false`).'
        END AS remedy,
        name AS check_name
    FROM customers_found
    WHERE name = 'customers_do_not_overlap'
    UNION ALL BY NAME
    SELECT
        'not refreshed' AS kind, found.customer_id AS customer, since_utc,
        'No other customer answers for ' || found.offices || ', so numbers of ' || found.customer_id
        || ' stay as read on ' || left(found.last_read_utc, 10) || ' (UTC): ' || found.reports AS error,
        name AS check_name
    FROM customers_found
    WHERE name = 'numbers_are_refreshed'
    UNION ALL BY NAME
    SELECT
        'not in the lake' AS kind,
        CASE WHEN waiting_since_utc < now_utc - to_hours(late_after_hours) THEN 'error' ELSE 'warning' END AS severity,
        waiting_since_utc AS since_utc, sink AS cause,
        'The lake lacks the latest publication' || coalesce(': ' || sinks.error, '.') AS error,
        'The next publication writes it again; `brokerbi publish` does so now.' AS remedy
    FROM meta.sinks AS sinks, meta.current_moment, meta.deadlines
    WHERE waiting_count > 0
    UNION ALL BY NAME
    SELECT
        'budget unconfirmed' AS kind, 'budget_pushes' AS report, customer, month,
        max(sent_at_utc) AS since_utc,
        'Budgets were sent, but the service did not show them.' AS error,
        'Push their plan again: `brokerbi budget push`.' AS remedy,
        count(*) AS row_count
    FROM pushed_budgets
    CROSS JOIN meta.current_moment
    WHERE sent_at_utc > now_utc - INTERVAL 31 DAY
        AND (status = 'unconfirmed' OR (status = 'sent' AND sent_at_utc < now_utc - INTERVAL 1 HOUR))
    GROUP BY customer, month
),

graded_conditions AS (
    SELECT
        all_conditions.* REPLACE (
            coalesce(all_conditions.severity, kinds.severities[1]) AS severity,
            CASE WHEN error LIKE '%set decimal in shapes.toml%' AND report IS NOT NULL
                THEN 'Write `decimal = ","` or `decimal = "."` below `[' || report || ']` in shapes.toml, then run `brokerbi sync`.'
                ELSE remedy END AS remedy
        ),
        kinds.is_of_figures,
        CASE
            WHEN cause = 'UnreadableRows' THEN report || ': ' || gist
            WHEN kind IN ('no access', 'access lost')
                THEN array_to_string(list_sort(list(report) OVER (PARTITION BY kind, customer)), ', ')
            WHEN kind IN ('quarantine', 'held back') THEN report
            WHEN kind NOT IN ('failed', 'late', 'never read', 'access denied', 'changes unknown', 'overlap')
                THEN customer
        END AS separate_by
    FROM all_conditions
    INNER JOIN meta.kinds AS kinds USING (kind)
)

SELECT
    kind, severity, report, customer, month, since_utc, cause, error, remedy, login, trouble, check_name,
    row_count::BIGINT AS row_count,
    is_of_figures,
    concat_ws(
        ' | ', severity, kind, coalesce(trouble, concat_ws(
            ' | ', coalesce(cause, error), remedy,
            separate_by
        ))
    ) AS cause_key,
    row_number() OVER (
        PARTITION BY cause_key
        ORDER BY cause = 'HostDown' DESC NULLS LAST, since_utc DESC NULLS LAST, report, customer, month
    ) AS cause_place
FROM graded_conditions
