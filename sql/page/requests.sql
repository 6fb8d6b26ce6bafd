-- How many requests were sent on recent days?
-- One row per day, in UTC: the newest fourteen with a request.
SELECT
    day,
    sum(requests)::BIGINT AS requests,
    sum(repeated)::BIGINT AS repeated,
    sum(failed)::BIGINT AS failed,
    round(sum(bytes) / 1e6, 1)::DECIMAL(18, 1) AS "received_(MB)"
FROM meta.requests_by_day
GROUP BY day
ORDER BY day DESC
LIMIT 14
