-- What had each user earned in each month, as known at a moment?
-- One row per user and month that marts.user_month had at the moment, or first had later. The moment is in UTC, for
-- example TIMESTAMP '2026-03-01 00:00'.
-- Two users may have the same name: group by user_id; marts.users has a label for each. Names are always the current
-- ones.
-- A moment before the first reading raises an error, which states since when users are known.
-- If a user and month were first read after the moment, the amounts are null (unknown, not zero), and known_since_utc
-- states when they were first read.
-- Amounts are exact to the build of the marts, usually the nightly run. The column read_by_utc states by when they had
-- been read.
-- At a moment after the last build, the amounts equal those of marts.user_month.
-- Parameters: moment
SELECT
    versions.month,
    versions.user_id,
    any_value(versions.user_name) AS user_name,
    max(versions.commission) FILTER (versions.is_then) AS commission,
    max(versions.sold_commission) FILTER (versions.is_then) AS sold_commission,
    max(versions.sold_total_price) FILTER (versions.is_then) AS sold_total_price,
    max(versions.sold_estate_parts) FILTER (versions.is_then) AS sold_estate_parts,
    max(versions.running_commission_sek_excl_vat) FILTER (versions.is_then) AS running_commission_sek_excl_vat,
    max(versions.valid_from_utc) FILTER (versions.is_then) AS read_by_utc,
    min(versions.valid_from_utc) AS known_since_utc
FROM (
    SELECT
        totals.*,
        totals.valid_from_utc <= as_of.moment_utc
            AND (totals.valid_to_utc IS NULL OR totals.valid_to_utc > as_of.moment_utc) AS is_then
    FROM (
        SELECT
            CASE
                WHEN moment::TIMESTAMP >= known_since_utc THEN moment::TIMESTAMP
                ELSE error(
                    coalesce('Users are known since ' || known_since_utc || ' UTC', 'Users have not been read yet')
                )
            END AS moment_utc
        FROM (SELECT min(valid_from_utc) AS known_since_utc FROM marts.user_month_versions)
    ) AS as_of
    CROSS JOIN marts.user_month_versions AS totals
    WHERE as_of.moment_utc IS NOT NULL -- so that the error is raised for any query
) AS versions
GROUP BY versions.month, versions.user_id
HAVING bool_or(versions.is_then AND versions.is_present) OR NOT bool_or(versions.is_then)
ORDER BY versions.month, versions.user_id
