-- How does the number compare with other months of this year and the year before?
-- One row per month that is held, from January of the year before to the month. Months that are held from before a user was
-- first seen have the number 0; first_seen_month says since when the user is known to have worked, or when the office began.
-- Without office and user it is the chain.
-- Parameters: office, user, month, measure, report
WITH first_seen AS (
    SELECT
        min(month) AS first_listed_month,
        any_value(first_active_month) AS month,
        arg_min(office_id, month) AS office_id
    FROM marts.user_month
    WHERE user_id = getvariable('user')
),

lines AS (
    SELECT month, is_open, is_commission_complete, to_json(line) AS numbers
    FROM marts.office_month AS line
    WHERE office_id = getvariable('office')
    UNION ALL
    SELECT month, is_open, is_commission_complete, to_json(line)
    FROM marts.user_month AS line
    WHERE user_id = getvariable('user')
    UNION ALL
    SELECT month, is_open, is_commission_complete, to_json(line)
    FROM marts.chain_month AS line
    WHERE getvariable('office') IS NULL AND getvariable('user') IS NULL
    UNION ALL
    SELECT sources.month, false, true, json_object(getvariable('measure'), 0)
    FROM marts.office_sources AS sources
    INNER JOIN first_seen ON first_seen.office_id = sources.office_id
    WHERE sources.report = getvariable('report') AND sources.month < first_seen.first_listed_month
)

SELECT
    lines.month,
    (lines.numbers ->> getvariable('measure')::VARCHAR)::DECIMAL(28, 8) AS number,
    lines.is_open,
    lines.is_commission_complete,
    coalesce(
        first_seen.month,
        (SELECT any_value(began_month) FROM marts.office_month WHERE office_id = getvariable('office'))
    ) AS first_seen_month
FROM lines
CROSS JOIN first_seen
WHERE lines.month BETWEEN date_trunc('year', getvariable('month')::DATE) - INTERVAL 1 YEAR AND getvariable('month')::DATE
ORDER BY lines.month
