-- Which months must be requested again, because reports disagree, an amount is missing, or a user was moved?
-- One row per report, customer and month, for one of three reasons:
-- 1. Two reports of an office disagree, and were read more than two days apart. The office's answers of that month are
-- due if they are more than two days older than the later of the two. The later one may be another customer's sales
-- list that has agents of the office. Reports that disagree although both were read within two days are left alone:
-- they mean different things.
-- 2. An answer lacks an amount that it should have; or an office or user report has 0 where the report compared with it
-- has a number. The answer is due again, as if changed a minute after it was read, unless it was last due for this
-- reason less than two days before. An answer without an amount is also due every week: a missing amount is not 0.
-- 3. A month of the last four changed after it was over: one office lost exactly the commission that another gained,
-- and no commission of their users changed within half a day of that. The service has then moved a user's past to
-- another office. All answers of both offices, of any month, are due if they were read more than half a day earlier.
-- Reports that are no longer refreshed are left out, because they cannot be requested.
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

earlier_changes AS (
    SELECT changes.report, changes.customer, changes.month, changes.changed_at_utc
    FROM meta.changes AS changes
    INNER JOIN meta.loads AS loads USING (load_id, report, customer)
    WHERE changes.estates = 0
),

office_changes AS (
    SELECT
        office_id,
        month,
        valid_from_utc AS at_utc,
        commission - lag(commission) OVER of_month AS difference,
        is_open OR lag(is_open) OVER of_month AS was_open
    FROM marts.month_total_versions
    WHERE report = 'commission_office'
    WINDOW of_month AS (PARTITION BY office_id, month ORDER BY version)
),

user_changes AS (
    SELECT versions.month, versions.valid_from_utc AS at_utc, users.office_id
    FROM marts.user_month_versions AS versions
    INNER JOIN marts.user_month AS users USING (user_id, month)
    QUALIFY version > 1 AND versions.commission IS DISTINCT FROM lag(versions.commission) OVER (
        PARTITION BY versions.user_id, versions.month ORDER BY version
    )
),

users_moved AS (
    SELECT lost.at_utc, unnest([lost.office_id, gained.office_id]) AS office_id
    FROM office_changes AS lost
    INNER JOIN office_changes AS gained
        ON gained.month = lost.month AND gained.at_utc = lost.at_utc AND gained.difference = -lost.difference
    WHERE lost.difference < 0
        AND NOT lost.was_open
        AND NOT gained.was_open
        AND lost.month >= lost.at_utc - INTERVAL 4 MONTH
        AND NOT EXISTS (
            FROM user_changes
            WHERE user_changes.month = lost.month
                AND user_changes.office_id IN (lost.office_id, gained.office_id)
                AND user_changes.at_utc BETWEEN lost.at_utc - INTERVAL 12 HOUR AND lost.at_utc + INTERVAL 12 HOUR
        )
),

due_months AS (
    SELECT
        older.report, older.customer_id, older.month, older.fetched_at_utc,
        moved.at_utc AS changed_at_utc, older.load_id
    FROM users_moved AS moved
    INNER JOIN marts.office_sources AS older USING (office_id)
    WHERE older.is_refreshed AND older.fetched_at_utc < moved.at_utc - INTERVAL 12 HOUR
    UNION ALL
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
    LEFT JOIN earlier_changes AS earlier
        ON earlier.report = lacking.report AND earlier.customer = lacking.customer_id AND earlier.month = lacking.month
    WHERE coalesce(earlier.changed_at_utc < lacking.fetched_at_utc - INTERVAL 2 DAY, true)
        OR (is_null AND lacking.fetched_at_utc < (SELECT max(fetched_at_utc) FROM meta.months) - INTERVAL 6 DAY)
)

SELECT
    report,
    customer_id AS customer,
    month,
    fetched_at_utc AS read_at_utc,
    max(changed_at_utc) AS changed_at_utc,
    arg_max(load_id, changed_at_utc) AS load_id
FROM due_months
WHERE list_contains(getvariable('reports'), report)
GROUP BY ALL
ORDER BY ALL
