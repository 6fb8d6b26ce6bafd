-- Since when do the pages report changes?
-- One row: the newest publication that is at least six and a half days older than the latest, else the oldest; null if
-- there is only one.
-- Columns:
--   since_utc: when that publication was made, in UTC
SELECT
    coalesce(
        max(at_utc) FILTER (at_utc <= newest_utc - INTERVAL 156 HOUR), min(at_utc) FILTER (at_utc < newest_utc)
    ) AS since_utc
FROM (SELECT at_utc, first(at_utc) OVER (ORDER BY rowid DESC) AS newest_utc FROM meta.publications WHERE status = 'published')
