-- Which sales were listed at a moment?
-- One row per estate. The moment is in UTC, for example TIMESTAMP '2026-03-01 00:00'.
-- A moment before the first reading raises an error, which states since when sales are known.
-- An office or month that was first read after the moment has no sale here: marts.office_month_as_of shows which these
-- are.
-- Sales are exact to the build of the marts, usually the nightly run. Agents and other columns of a sale are only in
-- marts.sales, as they are now.
-- Parameters: moment
SELECT versions.* EXCLUDE (is_present, was_over, left_was_over, street_address, agent_ids, valid_to_utc)
FROM (
    SELECT
        CASE
            WHEN moment::TIMESTAMP >= known_since_utc THEN moment::TIMESTAMP
            ELSE error(coalesce('Sales are known since ' || known_since_utc || ' UTC', 'Sales have not been read yet'))
        END AS moment_utc
    FROM (SELECT min(valid_from_utc) AS known_since_utc FROM marts.sale_versions)
) AS as_of
INNER JOIN marts.sale_versions AS versions
    ON versions.valid_from_utc <= as_of.moment_utc
    AND (versions.valid_to_utc IS NULL OR versions.valid_to_utc > as_of.moment_utc)
WHERE versions.is_present
