-- Whose part of the measure changed after the months were over, and what of commission came from no sale?
-- One row per month, day and agent whose part changed then; unsold_change is of commission alone, and by how many writings and
-- valuations it changed is null where those were not kept yet.
-- Parameters: office, user, first_month, month, measure
WITH restated AS (
    SELECT DISTINCT month
    FROM marts.office_restatements
    WHERE office_id = getvariable('office')
),

versions AS (
    SELECT
        user_id,
        month,
        version,
        valid_from_utc,
        is_restatement,
        amount_of(getvariable('measure'), commission, sold_commission, sold_total_price, sold_estate_parts) AS amount,
        CASE WHEN getvariable('measure') = 'commission' THEN commission - sold_commission END AS unsold,
        writing_parts,
        valuation_parts
    FROM marts.user_month_versions
    WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
),

versions_compared AS (
    SELECT
        *,
        amount - lag(amount) OVER versions_of AS amount_change,
        unsold - lag(unsold) OVER versions_of AS unsold_change,
        writing_parts - lag(writing_parts) OVER versions_of AS writing_change,
        valuation_parts - lag(valuation_parts) OVER versions_of AS valuation_change
    FROM versions
    WINDOW versions_of AS (PARTITION BY user_id, month ORDER BY version)
)

SELECT
    versions.month,
    versions.valid_from_utc AS noted_at_utc,
    local_day(versions.valid_from_utc, clock) AS noted_on,
    users.user_label,
    versions.amount_change,
    versions.unsold_change,
    versions.writing_change,
    versions.valuation_change
FROM versions_compared AS versions
INNER JOIN marts.user_month AS users USING (user_id, month)
LEFT JOIN restated ON restated.month = versions.month
LEFT JOIN meta.clock AS clock ON true
WHERE versions.is_restatement
    AND (
        users.user_id = getvariable('user')
        OR (users.office_id = getvariable('office') AND restated.month IS NOT NULL)
    )
    AND (
        abs(versions.amount_change) >= CASE WHEN getvariable('measure') = 'sold_estate_parts' THEN 0.005 ELSE 1 END
        OR abs(versions.unsold_change) >= 1
    )
ORDER BY versions.month, noted_at_utc, versions.amount_change, users.user_label
