-- Which months are to be asked again because two reports disagree?
-- One row per report, customer and month: of two that disagree, the reading that counts for an office and is more than two days
-- older than the later one; and an answer that has its row and no amount in it, or 0 where the office report or that of users is
-- compared with a number, once more after each reading, as if it had been changed a minute after it; not within two days of the
-- last time. Without an amount it is asked again every week, for nobody has said 0. Reports that disagree although both were read
-- within two days and have amounts mean different things, and asking again would not help. What is not refreshed any more cannot
-- be asked.
-- The later one may be another customer's sales list, with agents of the office.
-- Parameters: reports
WITH disagreeing AS (
    SELECT office_id, month, max(greatest(read_at_utc, compared_read_at_utc)) AS newest_at_utc
    FROM marts.reconciliation
    WHERE NOT is_reconciled
        AND greatest(read_at_utc, compared_read_at_utc) - least(read_at_utc, compared_read_at_utc) > INTERVAL 2 DAY
    GROUP BY ALL
),

without_amount AS (
    SELECT DISTINCT
        sources.report, sources.customer_id, sources.month, sources.fetched_at_utc, sources.load_id, judged.difference IS NULL AS is_null
    FROM marts.reconciliation AS judged
    INNER JOIN marts.office_sources AS sources
        ON sources.office_id = judged.office_id
        AND sources.month = judged.month
        AND sources.report = CASE
            WHEN coalesce(amount, 0) = 0 THEN 'commission_office'
            WHEN compared = 'user report' THEN 'commission_user'
            ELSE 'sales'
        END
    WHERE NOT is_reconciled AND sources.is_refreshed AND (
        difference IS NULL
        OR (amount = 0 AND measure IN ('commission', 'sold commission'))
        OR (compared_amount = 0 AND measure = 'commission' AND compared = 'user report')
    )
    UNION
    SELECT report, customer_id, month, fetched_at_utc, load_id, true
    FROM marts.office_sources
    WHERE lacks_amount AND is_refreshed
    UNION
    SELECT 'commission_user', customer_id, month, fetched_at_utc, load_id, true
    FROM marts.user_sources
    WHERE lacks_amount AND is_refreshed
),

asked_for_amounts AS (
    SELECT changes.report, changes.customer, changes.month, changes.changed_at_utc
    FROM meta.changes AS changes
    INNER JOIN meta.loads AS loads USING (load_id, report, customer)
    WHERE changes.estates = 0
),

found AS (
    SELECT
        older.report, older.customer_id, older.month, older.fetched_at_utc,
        newest.fetched_at_utc AS changed_at_utc, newest.load_id
    FROM disagreeing
    INNER JOIN meta.months AS newest
        ON newest.month = disagreeing.month AND newest.fetched_at_utc = disagreeing.newest_at_utc
    INNER JOIN marts.office_sources AS older
        ON (older.office_id, older.month) = (disagreeing.office_id, disagreeing.month)
    WHERE older.is_refreshed AND older.fetched_at_utc < disagreeing.newest_at_utc - INTERVAL 2 DAY
    UNION ALL
    SELECT
        lacking.report, lacking.customer_id, lacking.month, lacking.fetched_at_utc,
        lacking.fetched_at_utc + INTERVAL 1 MINUTE, lacking.load_id
    FROM without_amount AS lacking
    LEFT JOIN asked_for_amounts AS asked
        ON asked.report = lacking.report AND asked.customer = lacking.customer_id AND asked.month = lacking.month
    WHERE coalesce(asked.changed_at_utc < lacking.fetched_at_utc - INTERVAL 2 DAY, true)
        OR (is_null AND lacking.fetched_at_utc < (SELECT max(fetched_at_utc) FROM meta.months) - INTERVAL 6 DAY)
)

SELECT
    report,
    customer_id AS customer,
    month,
    fetched_at_utc AS read_at_utc,
    max(changed_at_utc) AS changed_at_utc,
    arg_max(load_id, changed_at_utc) AS load_id
FROM found
WHERE list_contains(getvariable('reports'), report)
GROUP BY ALL
ORDER BY ALL
