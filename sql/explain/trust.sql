-- How whole and how new is the number, and what speaks against it?
-- One row per sentence; is_doubt where it is a reason to hesitate. Of several months it says which.
-- Of a user the answers of the user's office in the month are looked at. A problem of no report in particular is left out
-- where its words show that it is about something else, as budgets beside a commission.
-- Without office and user it is the chain: all offices are looked at, and doubts name theirs.
-- Parameters: office, user, first_month, month, report
WITH months AS (
    SELECT unnest(generate_series(
        getvariable('first_month')::DATE, getvariable('month')::DATE, INTERVAL 1 MONTH
    ))::DATE AS month
),

asked AS (
    SELECT
        coalesce(getvariable('office')::VARCHAR, users.office_id) AS office_id,
        months.month,
        getvariable('report')::VARCHAR AS report
    FROM months
    LEFT JOIN marts.user_month AS users ON users.month = months.month AND users.user_id = getvariable('user')
    WHERE NOT (getvariable('office') IS NULL AND getvariable('user') IS NULL)
    UNION ALL
    SELECT coverage.office_id, months.month, getvariable('report')::VARCHAR
    FROM months
    INNER JOIN marts.office_coverage AS coverage USING (month)
    WHERE getvariable('office') IS NULL AND getvariable('user') IS NULL
),

offices AS (
    SELECT
        office_id,
        CASE WHEN getvariable('office') IS NULL AND getvariable('user') IS NULL THEN coalesce(office_name, office_id) || ': ' ELSE '' END AS of_office
    FROM marts.offices
),

sources AS (
    SELECT sources.*, local_day(sources.fetched_at_utc, clock)::VARCHAR AS read_on, coalesce(offices.of_office, '') AS of_office
    FROM marts.office_sources AS sources
    INNER JOIN asked USING (office_id, month, report)
    LEFT JOIN offices USING (office_id)
    LEFT JOIN meta.clock AS clock ON true
),

problems AS (
    SELECT
        *,
        CASE
            WHEN kind = 'assumption' THEN 'budget'
            WHEN kind = 'check' THEN regexp_extract(check_name, '(budget|lead|running)', 1)
            ELSE ''
        END AS about
    FROM meta.problems
),

reconciled AS (
    SELECT compared.*, coalesce(offices.of_office, '') AS of_office
    FROM marts.reconciliation AS compared
    INNER JOIN asked USING (office_id, month)
    LEFT JOIN offices USING (office_id)
    WHERE asked.report IN ('commission_office', 'commission_user')
),

sentences AS (
    SELECT
        1 AS place,
        is_cut_short OR NOT is_current AS is_doubt,
        month,
        CASE
            WHEN is_cut_short
                THEN of_office || 'cut short: read until ' || read_on || ' and not asked for since (' || source_state
                || '); what came afterwards is missing'
            WHEN NOT is_current
                THEN of_office || 'not refreshed: last read on ' || read_on || ' (' || source_state
                || '); what changed since is not in it'
            WHEN month > read_on::DATE
                THEN 'still to come: the month had not begun, last read on ' || read_on
            ELSE 'so far: the month is not over, read until ' || read_on
        END AS sentence
    FROM sources
    WHERE is_cut_short OR NOT is_current OR is_growing
    UNION ALL
    SELECT
        1,
        false,
        NULL,
        CASE WHEN count(*) = 1 THEN 'the whole month' ELSE count(*) || ' whole months' END
        || CASE
            WHEN getvariable('office') IS NOT NULL OR getvariable('user') IS NOT NULL THEN ''
            WHEN count(DISTINCT office_id) = 1 THEN ' of one office'
            ELSE ' of ' || count(DISTINCT office_id) || ' offices'
        END || ', last read '
        || CASE
            WHEN min(read_on) = max(read_on) THEN 'on ' || min(read_on)
            ELSE 'from ' || min(read_on) || ' to ' || max(read_on)
        END
    FROM sources
    WHERE NOT is_cut_short AND is_current AND NOT is_growing
    HAVING count(*) > 0
    UNION ALL
    SELECT
        0,
        true,
        asked.month,
        coalesce(offices.of_office, asked.office_id || ': ') || 'not held, so the chain has more than is shown'
    FROM asked
    LEFT JOIN offices USING (office_id)
    ANTI JOIN sources USING (office_id, month)
    WHERE getvariable('user') IS NULL AND getvariable('office') IS NULL
    UNION ALL
    SELECT 2, true, NULL, 'late: ' || fresh.report || ' of ' || fresh.customer || ' should have been read again by '
        || local_day(fresh.due_utc, clock)
    FROM meta.freshness AS fresh
    INNER JOIN sources ON (sources.report, sources.customer_id) = (fresh.report, fresh.customer)
    LEFT JOIN meta.clock AS clock ON true
    WHERE fresh.is_late
    UNION ALL
    SELECT 3, true, problems.month, kind || ': ' || message
    FROM problems
    INNER JOIN sources
        ON coalesce(problems.report, sources.report) = sources.report
        AND coalesce(problems.customer, sources.customer_id) = sources.customer_id
        AND coalesce(problems.month, sources.month) = sources.month
        AND (problems.report IS NOT NULL OR contains(sources.report, problems.about))
    WHERE kind NOT IN ('failed month', 'held back')
    UNION ALL
    SELECT 3, true, failed.month, failed.status || ': ' || concat_ws(' ', failed.error, failed.remedy)
    FROM meta.open_failures AS failed
    INNER JOIN sources
        ON (sources.report, sources.customer_id) = (failed.report, failed.customer)
        AND sources.month = coalesce(failed.month, sources.month)
    UNION ALL
    SELECT 4, true, month, of_office || 'differs: the ' || compared || ' has ' || compared_amount::DOUBLE || ' of ' || measure
        || ', ' || difference::DOUBLE || ' beside ' || amount::DOUBLE || coalesce(': ' || likely_reason, '')
    FROM reconciled
    WHERE NOT is_reconciled
    UNION ALL
    SELECT 5, false, NULL, count(*) || ' comparisons of the office' || CASE WHEN getvariable('office') IS NULL AND getvariable('user') IS NULL THEN 's' ELSE '' END
        || ' with other reports, '
        || count(*) FILTER (is_reconciled) || ' of them agree'
    FROM reconciled
    WHERE is_reconciled IS NOT NULL
    HAVING count(*) > 0
    UNION ALL
    SELECT 6, true, NULL, worked.sentence
    FROM (
        SELECT
            CASE
                WHEN any_value(users.left_directory_on) IS NOT NULL
                    THEN 'no longer in the directory, noted on ' || any_value(users.left_directory_on)
                    || coalesce('; last seen in ' || strftime(max(known.last_active_month), '%Y-%m'), '')
                WHEN NOT arg_max(is_active, month)
                    THEN 'last seen in ' || strftime(max(known.last_active_month), '%Y-%m')
                    || ': nothing earned and no lead since; '
                    || CASE
                        WHEN any_value(users.is_missing_in_directory) THEN 'has left, and is not in the directory'
                        ELSE 'has left, or is quiet'
                    END
            END AS sentence
        FROM marts.user_month AS known
        LEFT JOIN marts.users AS users USING (user_id)
        WHERE user_id = getvariable('user')
    ) AS worked
    WHERE worked.sentence IS NOT NULL
),

months_gathered AS (
    SELECT
        place,
        is_doubt,
        sentence,
        min(month) AS first_month,
        CASE
            WHEN getvariable('first_month')::DATE = getvariable('month')::DATE OR count(DISTINCT month) = 0 THEN ''
            WHEN count(DISTINCT month) <= 3
                THEN string_agg(DISTINCT strftime(month, '%Y-%m'), ', ' ORDER BY strftime(month, '%Y-%m')) || ': '
            ELSE count(DISTINCT month) || ' months from ' || strftime(min(month), '%Y-%m') || ' to '
                || strftime(max(month), '%Y-%m') || ': '
        END AS of_months
    FROM sentences
    GROUP BY ALL
)

SELECT is_doubt, of_months || sentence AS sentence
FROM months_gathered
ORDER BY place, first_month NULLS FIRST, sentence
