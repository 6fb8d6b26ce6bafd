-- Which months are to be asked again because two reports disagree that were read more than two days apart?
-- One row per report, customer and month of which the reading that counts for an office is more than two days older
-- than the later of two that disagree. Reports that disagree although both were read within two days mean different
-- things, and asking again would not help. What is not refreshed any more cannot be asked.
-- Parameters: reports
WITH disagreeing AS (
    SELECT office_id, month, max(greatest(read_at_utc, compared_read_at_utc)) AS newest_at_utc
    FROM marts.reconciliation
    WHERE NOT is_reconciled
        AND greatest(read_at_utc, compared_read_at_utc) - least(read_at_utc, compared_read_at_utc) > INTERVAL 2 DAY
    GROUP BY ALL
)

SELECT
    older.report,
    older.customer_id AS customer,
    older.month,
    older.fetched_at_utc AS read_at_utc,
    max(newest.fetched_at_utc) AS changed_at_utc,
    arg_max(newest.load_id, newest.fetched_at_utc) AS load_id
FROM disagreeing
INNER JOIN marts.office_sources AS newest
    ON (newest.office_id, newest.month, newest.fetched_at_utc)
    = (disagreeing.office_id, disagreeing.month, disagreeing.newest_at_utc)
INNER JOIN marts.office_sources AS older
    ON (older.office_id, older.month) = (disagreeing.office_id, disagreeing.month)
WHERE older.is_refreshed
    AND list_contains(getvariable('reports'), older.report)
    AND older.fetched_at_utc < disagreeing.newest_at_utc - INTERVAL 2 DAY
GROUP BY ALL
ORDER BY ALL
