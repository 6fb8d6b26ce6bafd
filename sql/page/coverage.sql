-- Of which months is something missing, and what?
-- One row per report, customer and month, of the reports and customers of which a month is failed, held back, refused or missing:
-- the newest thirty-six months up to the latest one that anything was asked of, from the first one of the report that anybody
-- holds. A month that is held counts as that, whatever is refused since; of what is switched off nothing is missing.
WITH asked AS (
    SELECT report, min(month) AS first_month
    FROM meta.months
    WHERE month IS NOT NULL
    GROUP BY report
),

newest AS (
    SELECT date_trunc('month', max(day))::DATE AS month FROM meta.requests_by_day
),

squares AS (
    SELECT
        freshness.report,
        freshness.customer,
        freshness.state AS freshness,
        unnest(generate_series(
            greatest(asked.first_month, newest.month - INTERVAL 35 MONTH), newest.month, INTERVAL 1 MONTH
        ))::DATE AS month
    FROM meta.freshness AS freshness
    INNER JOIN asked USING (report)
    CROSS JOIN newest
),

judged AS (
    SELECT
        squares.report,
        squares.customer,
        squares.month,
        CASE
            WHEN failed.status IS NOT NULL AND freshness <> 'switched off' THEN failed.status
            WHEN held.state = 'open' THEN 'open'
            WHEN held.state IS NOT NULL THEN CASE WHEN held.rows > 0 THEN 'held' ELSE 'empty' END
            WHEN freshness = 'switched off' THEN 'off'
            WHEN freshness = 'no access' THEN 'refused'
            WHEN turns.month IS NOT NULL THEN 'waiting'
            ELSE 'missing'
        END AS state
    FROM squares
    LEFT JOIN meta.months AS held USING (report, customer, month)
    LEFT JOIN meta.open_failures AS failed USING (report, customer, month)
    LEFT JOIN meta.turns AS turns USING (report, customer, month)
)

SELECT report, customer, month, state, state IN ('failed', 'held back', 'refused', 'missing') AS is_missing
FROM judged
QUALIFY bool_or(is_missing) OVER (PARTITION BY report, customer)
ORDER BY report, customer, month DESC
