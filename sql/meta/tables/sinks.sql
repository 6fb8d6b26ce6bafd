-- One row per external destination of publications (only the lake): how many publications it lacks.
-- Columns:
--   sink: 'lake' of published tables
--   tried_at_utc: when it was last written, successfully or not, in UTC
--   waiting_count: publications that are not in the lake
--   waiting_since_utc: since when the oldest of them has waited, in UTC
--   error: why publications wait, in a sentence; null if none waits
CREATE TABLE IF NOT EXISTS meta.sinks (
    sink VARCHAR,
    tried_at_utc TIMESTAMP,
    waiting_count BIGINT,
    waiting_since_utc TIMESTAMP,
    error VARCHAR
);
