-- Why was the latest file not published?
-- One row where something speaks against it, else none.
SELECT since_utc, error, remedy
FROM meta.conditions
WHERE kind = 'unpublished'
