-- How does the number compare with other months of this year and the year before?
-- One row per month that is held, from January of the year before to the month.
-- Parameters: office, user, month, measure
WITH lines AS (
    SELECT month, is_open, is_commission_complete, to_json(line) AS numbers
    FROM marts.office_month AS line
    WHERE office_id = getvariable('office')
    UNION ALL
    SELECT month, is_open, is_commission_complete, to_json(line)
    FROM marts.user_month AS line
    WHERE user_id = getvariable('user')
)

SELECT
    month,
    (numbers ->> getvariable('measure')::VARCHAR)::DECIMAL(28, 8) AS number,
    is_open,
    is_commission_complete
FROM lines
WHERE month BETWEEN date_trunc('year', getvariable('month')::DATE) - INTERVAL 1 YEAR AND getvariable('month')::DATE
ORDER BY month
