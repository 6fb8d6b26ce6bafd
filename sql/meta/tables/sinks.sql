-- One row per place outside that something is written to, which is the lake: how far it was left behind.
CREATE TABLE IF NOT EXISTS meta.sinks (
    sink VARCHAR,
    tried_at_utc TIMESTAMP,
    waiting_count BIGINT,
    waiting_since_utc TIMESTAMP,
    error VARCHAR
);
COMMENT ON TABLE meta.sinks IS
    'One row per place outside that something is written to, which is the lake: how far it was left behind.';
COMMENT ON COLUMN meta.sinks.sink IS '''lake'' of published tables';
COMMENT ON COLUMN meta.sinks.tried_at_utc IS 'when it was last written to, or tried, in UTC';
COMMENT ON COLUMN meta.sinks.waiting_count IS
    'publications that are not in the lake';
COMMENT ON COLUMN meta.sinks.waiting_since_utc IS 'since when the oldest of them waits, in UTC';
COMMENT ON COLUMN meta.sinks.error IS 'why they wait, in a sentence; null if none waits';
