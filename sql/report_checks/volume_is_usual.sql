-- Did it bring about as many rows as usual?
-- One row per customer whose latest month that was over has less than a third, or more than three times, of the
-- rows of a usual month: the median of the twelve before it, where there are six and at least twenty rows in one.
-- Severity: warning
WITH months_over AS (
    SELECT report, customer, month, "rows" AS row_count
    FROM meta.months
    WHERE state = 'held' AND month IS NOT NULL AND month < date_trunc('month', fetched_at_utc)
),

compared AS (
    SELECT
        report, customer, month, row_count,
        median(row_count) OVER before AS usual_row_count,
        count(*) OVER before AS months_before,
        row_number() OVER (PARTITION BY report, customer ORDER BY month DESC) AS age
    FROM months_over
    WINDOW before AS (
        PARTITION BY report, customer ORDER BY month ROWS BETWEEN 12 PRECEDING AND 1 PRECEDING
    )
)

SELECT report, customer, month, row_count, usual_row_count
FROM compared
WHERE age = 1 AND months_before >= 6 AND usual_row_count >= 20
    AND row_count NOT BETWEEN usual_row_count / 3 AND usual_row_count * 3
