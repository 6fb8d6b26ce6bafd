-- One row per external destination of publications; the lake is the only one.
-- The row states whether the lake has the latest publication.
-- Columns:
--   sink: 'lake' of published tables
--   tried_at_utc: when the lake was last written to, successfully or not, in UTC
--   waiting_count: 1 if the lake lacks the latest publication, else 0
--   waiting_since_utc: since when the lake has been out of date, in UTC, if waiting_count is 1
--   error: why the lake is out of date, in a sentence; null if it is not
CREATE TABLE IF NOT EXISTS meta.sinks (
    sink VARCHAR,
    tried_at_utc TIMESTAMP,
    waiting_count BIGINT,
    waiting_since_utc TIMESTAMP,
    error VARCHAR
);
