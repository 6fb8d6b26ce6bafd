-- Who has left in the last ninety days, from which office, and what did they earn in their last year?
-- One row per agent. The ninety days end with the newest reading; with the variable year, that year is taken instead.
--
-- left_on is the day on which the directory was first read without the agent. If is_left_day_known is false, only the
-- month is certain.
-- marts.headcount_month counts joiners and leavers by month, a leaver in the month after left_after_month.
-- Parameters: year, office
WITH newest AS (
    SELECT max(read_at_utc)::DATE AS read_on
    FROM marts.office_month
)

SELECT
    users.user_label AS agent,
    users.office_name,
    users.left_on,
    users.is_left_day_known,
    users.left_after_month,
    users.first_active_month,
    (sum(months.commission) / any_value(vat_divisor))::DECIMAL(18, 4) AS commission_of_last_12_months,
    users.office_id,
    users.user_id,
    divided_basis AS commission_basis
FROM marts.users AS users
CROSS JOIN newest
CROSS JOIN marts.tax_basis
LEFT JOIN marts.user_month AS months
    ON months.user_id = users.user_id
    AND months.month > users.left_after_month - INTERVAL 12 MONTH
    AND months.month <= users.left_after_month
WHERE users.has_left
    AND CASE
        WHEN getvariable('year') IS NULL THEN users.left_on > newest.read_on - 90
        ELSE year(users.left_on) = getvariable('year')
    END
    AND coalesce(users.office_id, '') = coalesce(getvariable('office'), users.office_id, '')
GROUP BY ALL
ORDER BY users.left_on DESC, agent;
