-- How many requests were sent lately?
-- One row per day, in UTC: the newest fourteen with a request.
SELECT
    day,
    sum(requests)::BIGINT AS requests,
    sum(repeated)::BIGINT AS repeated,
    sum(failed)::BIGINT AS failed,
    sum(bytes)::BIGINT AS bytes
FROM meta.requests_by_day
GROUP BY day
ORDER BY day DESC
LIMIT 14
