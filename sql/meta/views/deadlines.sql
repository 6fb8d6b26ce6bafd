-- From when on is what is awaited late, and a moment ahead of the clock?
CREATE OR REPLACE VIEW meta.deadlines AS
SELECT 36 AS late_after_hours, 60 AS ahead_after_seconds;
COMMENT ON VIEW meta.deadlines IS 'From when on is what is awaited late, and a moment ahead of the clock?';
COMMENT ON COLUMN meta.deadlines.late_after_hours IS
    'how many hours a report may be without a success, a stored answer outside the archive, the lake behind, and the file of a shard unchanged';
COMMENT ON COLUMN meta.deadlines.ahead_after_seconds IS
    'how many seconds later than now something may be dated: a clock that keeps time over the network may be set back';
