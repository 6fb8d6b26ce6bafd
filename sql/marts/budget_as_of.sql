-- Which budgets stood at a moment?
-- One row per office, user, month and measure; the moment is in UTC, for example TIMESTAMP '2026-03-01 00:00'.
-- Parameters: moment
SELECT * EXCLUDE (valid_to_utc)
FROM marts.budgets
WHERE valid_from_utc <= moment AND (valid_to_utc IS NULL OR valid_to_utc > moment)
