-- One row per external destination of publications (only the lake): whether it has the latest one.
-- Columns:
--   sink: 'lake' of published tables
--   tried_at_utc: when it was last written, successfully or not, in UTC
--   waiting_count: 1 if it lacks the latest publication, else 0
--   waiting_since_utc: if it lacks it, since when it has been out of date, in UTC
--   error: why it is out of date, in a sentence; null if it is not
CREATE TABLE IF NOT EXISTS meta.sinks (
    sink VARCHAR,
    tried_at_utc TIMESTAMP,
    waiting_count BIGINT,
    waiting_since_utc TIMESTAMP,
    error VARCHAR
);
