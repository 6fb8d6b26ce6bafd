-- What had each office earned in each month, as known at a moment?
-- One row per office and month. The moment is in UTC, for example TIMESTAMP '2026-03-01 00:00'.
-- A moment before the first reading raises an error, which states since when months are known.
-- A number that was first read after the moment is null: unknown, not zero. known_since_utc states when the first of a
-- row's numbers was read.
-- Numbers are exact to the build of the marts, usually the nightly run. read_by_utc states by when all of a row's
-- numbers had been read.
-- At a moment after the last build, the numbers of the office report and the running commissions equal those of
-- marts.office_month.
-- Parameters: moment
SELECT
    versions.month,
    versions.office_id,
    any_value(offices.office_name) AS office_name,
    max(versions.commission) FILTER (versions.is_then AND versions.report = 'commission_office') AS commission,
    max(versions.price) FILTER (versions.is_then AND versions.report = 'commission_office') AS sold_total_price,
    max(versions.estate_parts) FILTER (versions.is_then AND versions.report = 'commission_office')
        AS sold_estate_parts,
    max(versions.commission) FILTER (versions.is_then AND versions.report = 'running_commissions')
        AS running_commission_sek_excl_vat,
    max(versions.row_count) FILTER (versions.is_then AND versions.report = 'tips_and_leads')
        AS lead_and_tip_count_with_removed,
    max(versions.row_count) FILTER (versions.is_then AND versions.report = 'sales') AS listed_sale_count,
    max(versions.commission) FILTER (versions.is_then AND versions.report = 'sales') AS listed_sale_commission,
    max(versions.price) FILTER (versions.is_then AND versions.report = 'sales') AS listed_sale_price,
    bool_or(versions.is_open) FILTER (versions.is_then) AS is_open,
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
                    coalesce('Months are known since ' || known_since_utc || ' UTC', 'Months have not been read yet')
                )
            END AS moment_utc
        FROM (SELECT min(valid_from_utc) AS known_since_utc FROM marts.month_total_versions)
    ) AS as_of
    CROSS JOIN marts.month_total_versions AS totals
    WHERE as_of.moment_utc IS NOT NULL -- so that the error is raised for any query
) AS versions
LEFT JOIN marts.offices AS offices ON offices.office_id = versions.office_id
GROUP BY versions.month, versions.office_id
ORDER BY versions.month, versions.office_id
