-- Whose commission changed after the months were over, and what of it came from no sale?
-- One row per month that was restated and agent whose commission changed, and one without an agent for what neither an
-- agent's total nor a sale shows.
-- What sales took or gave is known from the agents' totals and from the sales list, where a sale that is shared with
-- other offices is listed whole: that which leaves less without an agent counts. Less than 1 is rounding.
-- Parameters: office, user, first_month, month
WITH restated AS (
    SELECT month, sum(commission_after - commission_before) AS commission_change
    FROM marts.office_restatements
    WHERE office_id = getvariable('office')
        AND month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    GROUP BY ALL
),

listed AS (
    SELECT month, sum(commission_change) AS commission_change
    FROM marts.sale_changes
    WHERE office_id = getvariable('office') AND is_restatement
    GROUP BY ALL
),

read_as_over AS (
    SELECT office_id, month, min(valid_from_utc)::DATE AS over_since
    FROM marts.month_total_versions
    WHERE report = 'commission_office' AND NOT is_open
    GROUP BY ALL
),

versions_compared AS (
    SELECT
        user_id,
        month,
        valid_from_utc,
        commission - lag(commission) OVER versions AS commission_change,
        sold_commission - lag(sold_commission) OVER versions AS sold_change
    FROM marts.user_month_versions
    WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    WINDOW versions AS (PARTITION BY user_id, month ORDER BY version)
),

agents AS (
    SELECT
        versions.month,
        users.user_label,
        sum(versions.commission_change) AS commission_change,
        sum(versions.commission_change - versions.sold_change) AS unsold_change
    FROM versions_compared AS versions
    INNER JOIN marts.user_month AS users USING (user_id, month)
    INNER JOIN read_as_over ON (read_as_over.office_id, read_as_over.month) = (users.office_id, users.month)
    LEFT JOIN restated ON restated.month = versions.month
    WHERE versions.valid_from_utc::DATE > read_as_over.over_since
        AND (
            users.user_id = getvariable('user')
            OR (users.office_id = getvariable('office') AND restated.month IS NOT NULL)
        )
    GROUP BY versions.month, users.user_id, users.user_label
),

agents_added AS (
    SELECT month, sum(commission_change) AS commission_change, sum(unsold_change) AS unsold_change
    FROM agents
    GROUP BY ALL
),

unexplained AS (
    SELECT
        restated.month,
        restated.commission_change - coalesce(agents_added.commission_change, 0) AS beside_agents,
        restated.commission_change - coalesce(agents_added.unsold_change, 0)
        - coalesce(listed.commission_change, 0) AS beside_sales
    FROM restated
    LEFT JOIN agents_added USING (month)
    LEFT JOIN listed USING (month)
),

found AS (
    SELECT * FROM agents
    UNION ALL BY NAME
    SELECT
        month,
        CASE WHEN abs(beside_agents) <= abs(beside_sales) THEN beside_agents ELSE beside_sales END AS unsold_change
    FROM unexplained
)

SELECT month, user_label, commission_change, unsold_change
FROM found
WHERE abs(commission_change) >= 1 OR abs(unsold_change) >= 1
ORDER BY month, commission_change NULLS LAST, user_label
