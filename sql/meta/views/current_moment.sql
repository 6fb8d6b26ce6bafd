-- The current time for a reader; after a run on a rehearsed day, the time of the latest answer.
--
-- epoch_us and make_timestamp give UTC whatever the reader's time zone is, in every DuckDB 1.x tool.
-- Columns:
--   now_utc: that moment, in UTC
CREATE OR REPLACE VIEW meta.current_moment AS
SELECT
    CASE
        WHEN EXISTS (FROM meta.storage WHERE is_rehearsal) THEN (SELECT max(fetched_at_utc) FROM meta.loads)
        ELSE make_timestamp(epoch_us(now()))
    END AS now_utc;
