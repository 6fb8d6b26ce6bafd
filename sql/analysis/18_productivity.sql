-- How much does an agent earn and sell, and does the office live on one of them?
-- One row per office; the twelve months that end with the latest month that is over, or the year that is set.
--
-- An agent is a user with commission in the period, counted for the months that had any: who came in autumn is not
-- measured by a whole year. top_percent is the share of the one who earned most.
-- Parameters: year, office
WITH last_month AS (
    SELECT max(month) AS month
    FROM marts.user_month
    WHERE NOT is_open AND year(month) = coalesce(getvariable('year'), year(month))
),

agents AS (
    SELECT
        users.office_id,
        users.user_id,
        any_value(users.office_name) AS office_name,
        sum(users.commission) AS commission,
        sum(users.sold_estate_parts) AS homes,
        count(*) FILTER (users.commission > 0) AS months
    FROM marts.user_month AS users
    INNER JOIN last_month ON users.month BETWEEN
        CASE
            WHEN getvariable('year') IS NULL THEN last_month.month - INTERVAL 11 MONTH
            ELSE date_trunc('year', last_month.month)
        END AND last_month.month
    WHERE users.office_id = coalesce(getvariable('office'), users.office_id)
    GROUP BY ALL
    HAVING sum(users.commission) > 0
)

SELECT
    any_value(office_name) AS office_name,
    count(*) AS agents,
    sum(commission) AS commission,
    round(sum(commission) / sum(months), 0) AS commission_per_agent_and_month,
    round(sum(homes) / sum(months), 2) AS homes_per_agent_and_month,
    round(100 * max(commission) / sum(commission), 1) AS top_percent
FROM agents
GROUP BY office_id
ORDER BY commission_per_agent_and_month DESC;
