-- The shards of a merged file: all that were to be in it, also one of which there was no file. Else there are none.
CREATE TABLE IF NOT EXISTS meta.shards (
    shard VARCHAR,
    customers VARCHAR[],
    published_at_utc TIMESTAMP,
    fetched_at_utc TIMESTAMP,
    merged_at_utc TIMESTAMP,
    error VARCHAR
);
COMMENT ON TABLE meta.shards IS
    'The shards of a merged file: all that were to be in it, also one of which there was no file. Else there are none.';
COMMENT ON COLUMN meta.shards.shard IS 'name of the shard';
COMMENT ON COLUMN meta.shards.customers IS
    'the customers it answers for; of one that is missing, those of the latest merge that had it';
COMMENT ON COLUMN meta.shards.published_at_utc IS
    'when the file of the shard that was merged was published, in UTC; of one that is missing, the latest that was merged';
COMMENT ON COLUMN meta.shards.fetched_at_utc IS 'when the newest answer in that file was fetched, in UTC';
COMMENT ON COLUMN meta.shards.merged_at_utc IS 'when the shards were merged, in UTC';
COMMENT ON COLUMN meta.shards.error IS 'why nothing of it is in this file; null where it is';
