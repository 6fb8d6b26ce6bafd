-- When was this file published, and from how many loads?
-- One row, or none in a file that was never published.
SELECT name, at_utc, loads
FROM meta.publications
WHERE status = 'published'
ORDER BY at_utc DESC
LIMIT 1
