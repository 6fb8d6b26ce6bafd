-- How whole and how new is the number, and what speaks against it?
-- One row per sentence; is_doubt where it is a reason to hesitate.
-- Of a user the answers of the user's office in the month are looked at.
-- Parameters: office, user, month, report
WITH asked AS (
    SELECT
        coalesce(
            getvariable('office')::VARCHAR,
            (
                SELECT office_id FROM marts.user_month
                WHERE user_id = getvariable('user') AND month = getvariable('month')::DATE
            )
        ) AS office_id,
        getvariable('month')::DATE AS month,
        getvariable('report')::VARCHAR AS report
),

sources AS (
    SELECT sources.*, sources.fetched_at_utc::DATE::VARCHAR AS read_on
    FROM marts.office_sources AS sources
    INNER JOIN asked USING (office_id, month, report)
),

reconciled AS (
    SELECT compared.*
    FROM marts.reconciliation AS compared
    INNER JOIN asked USING (office_id, month)
    WHERE asked.report IN ('commission_office', 'commission_user')
),

sentences AS (
    SELECT
        1 AS place,
        is_cut_short OR NOT is_current AS is_doubt,
        CASE
            WHEN is_cut_short
                THEN 'cut short: read until ' || read_on || ' and not asked for since (' || source_state
                || '); what came afterwards is missing'
            WHEN NOT is_current
                THEN 'not refreshed: last read on ' || read_on || ' (' || source_state
                || '); what changed since is not in it'
            WHEN is_growing THEN 'so far: the month is not over, read until ' || read_on
            ELSE 'the whole month, last read on ' || read_on
        END AS sentence
    FROM sources
    UNION ALL
    SELECT 2, true, 'late: ' || fresh.report || ' of ' || fresh.customer || ' should have been read again by '
        || fresh.due_utc::DATE
    FROM meta.freshness AS fresh
    INNER JOIN sources ON (sources.report, sources.customer_id) = (fresh.report, fresh.customer)
    WHERE fresh.is_late
    UNION ALL
    SELECT DISTINCT 3, true, kind || ': ' || message
    FROM meta.problems AS problems
    INNER JOIN sources
        ON coalesce(problems.report, sources.report) = sources.report
        AND coalesce(problems.customer, sources.customer_id) = sources.customer_id
        AND coalesce(problems.month, sources.month) = sources.month
    UNION ALL
    SELECT 4, true, 'differs: the ' || compared || ' has ' || compared_amount::DOUBLE || ' of ' || measure || ', '
        || difference::DOUBLE || ' beside ' || amount::DOUBLE || coalesce(': ' || likely_reason, '')
    FROM reconciled
    WHERE NOT is_reconciled
    UNION ALL
    SELECT 5, false, count(*) || ' comparisons of the office with other reports, ' || count(*) FILTER (is_reconciled)
        || ' of them agree'
    FROM reconciled
    WHERE is_reconciled IS NOT NULL
    HAVING count(*) > 0
)

SELECT is_doubt, sentence
FROM sentences
ORDER BY place, sentence
