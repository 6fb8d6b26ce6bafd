-- Which budgets were in force at a moment?
-- One row per office, user, month and measure. The moment is in UTC, for example TIMESTAMP '2026-03-01 00:00'.
-- A moment before the first reading raises an error, which states since when budgets are known.
-- A month whose budgets were first read after the moment has no row: its budgets were unknown then, which does not
-- mean that there were none.
-- Parameters: moment
SELECT budgets.* EXCLUDE (valid_to_utc)
FROM marts.budgets AS budgets
CROSS JOIN (
    SELECT
        CASE
            WHEN known_since_utc IS NULL OR moment::TIMESTAMP >= known_since_utc THEN moment::TIMESTAMP
            ELSE error('Budgets are known since ' || known_since_utc::VARCHAR || ' UTC')
        END AS moment_utc
    FROM (SELECT min(valid_from_utc) AS known_since_utc FROM marts.budgets)
) AS as_of
WHERE budgets.valid_from_utc <= as_of.moment_utc
    AND (budgets.valid_to_utc IS NULL OR budgets.valid_to_utc > as_of.moment_utc)
