-- How much did an agent earn and sell in twelve months, and does the office depend on one agent?
-- One row per office, for the twelve months that end with the latest month that is over, or for the variable year.
--
-- An agent is a user who was active in the period. Only the months with is_active in marts.user_month count, even
-- those with a lead and no commission; so an agent who joined in autumn is not measured by a whole year. agent_months
-- has the number of these months.
-- top_percent is the share of the highest earner.
-- An agent of several customers counts at each office with the amounts earned there.
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
        count(DISTINCT users.month) AS months
    FROM marts.user_office_month AS users
    INNER JOIN last_month ON users.month BETWEEN
        CASE
            WHEN getvariable('year') IS NULL THEN last_month.month - INTERVAL 11 MONTH
            ELSE date_trunc('year', last_month.month)
        END AND last_month.month
    WHERE users.is_active AND users.office_id = coalesce(getvariable('office'), users.office_id)
    GROUP BY ALL
)

SELECT
    any_value(office_name) AS office_name,
    count(*) AS agents,
    sum(months) AS agent_months,
    (sum(commission) / any_value(vat_divisor))::DECIMAL(18, 4) AS commission,
    round(sum(commission) / any_value(vat_divisor) / sum(months), 0) AS commission_per_agent_and_month,
    round(sum(homes) / sum(months), 2) AS homes_per_agent_and_month,
    round(100 * max(commission) / nullif(sum(commission), 0), 1) AS top_percent,
    any_value(divided_basis) AS commission_basis
FROM agents
CROSS JOIN marts.tax_basis
GROUP BY office_id
ORDER BY commission_per_agent_and_month DESC;
