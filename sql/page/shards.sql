-- How old is what is here of each shard?
-- One row per shard of a merged file, those that are missing or late first; none in any other file.
SELECT
    shards.shard,
    len(customers) AS customer_count,
    published_at_utc,
    fetched_at_utc,
    coalesce(conditions.kind, 'merged') AS state
FROM meta.shards AS shards
LEFT JOIN meta.conditions AS conditions
    ON conditions.cause = shards.shard AND conditions.kind IN ('shard missing', 'shard late')
ORDER BY state = 'merged', published_at_utc, shards.shard
