-- Which commission budgets were entered or changed since the compared publication?
-- One row per office and year, the largest change first. marts.budget_changes defines a change.
-- amount_before and amount_after are the office's budget from first_month to last_month, which are the first and the
-- last changed month. amount_before is null if there was none. agents are those whose own budgets changed, the largest
-- difference first.
-- Budgets that were first read since that publication, and are no change, are in no amount: read_first_months has their
-- months.
WITH months_changed AS (
    SELECT changes.office_id, changes.user_id, changes.month, sum(changes.difference) AS difference
    FROM marts.budget_changes AS changes
    INNER JOIN meta.news_since AS since ON changes.noted_at_utc > since.since_utc
    WHERE changes.measure = 'commission'
    GROUP BY changes.office_id, changes.user_id, changes.month
    HAVING first(changes.amount_before ORDER BY changes.noted_at_utc)
        IS DISTINCT FROM last(changes.amount_after ORDER BY changes.noted_at_utc)
),

agents_changed AS (
    SELECT
        months.office_id,
        year(months.month) AS budget_year,
        min(months.month) AS first_month,
        max(months.month) AS last_month,
        coalesce(any_value(users.user_label), months.user_id) AS agent,
        sum(months.difference)::DECIMAL(18, 4) AS difference
    FROM months_changed AS months
    LEFT JOIN marts.users AS users ON users.user_id = months.user_id
    GROUP BY months.office_id, months.user_id, budget_year
),

years AS (
    SELECT
        office_id,
        min(first_month) AS first_month,
        max(last_month) AS last_month,
        sum(difference) AS difference,
        coalesce(list(agent ORDER BY abs(difference) DESC, agent) FILTER (agent IS NOT NULL), []) AS agents,
        coalesce(list(difference ORDER BY abs(difference) DESC, agent) FILTER (agent IS NOT NULL), []) AS agents_differences
    FROM agents_changed
    GROUP BY office_id, budget_year
),

first_readings AS (
    SELECT budgets.office_id, budgets.user_id, budgets.month
    FROM marts.budgets AS budgets
    INNER JOIN meta.news_since AS since ON true
    ANTI JOIN months_changed AS changed
        ON changed.office_id = budgets.office_id
        AND changed.user_id IS NOT DISTINCT FROM budgets.user_id
        AND changed.month = budgets.month
    WHERE budgets.measure = 'commission'
    GROUP BY budgets.office_id, budgets.user_id, budgets.month, since.since_utc
    HAVING min(budgets.valid_from_utc) > since.since_utc AND bool_or(budgets.valid_to_utc IS NULL)
),

offices_changed AS (
    SELECT
        years.*,
        coalesce(sum(budgets.amount) FILTER (budgets.valid_to_utc IS NULL), 0) AS amount_after
    FROM years
    INNER JOIN marts.budgets AS budgets
        ON budgets.office_id = years.office_id AND budgets.month BETWEEN years.first_month AND years.last_month
    ANTI JOIN first_readings AS first
        ON first.office_id = budgets.office_id
        AND first.user_id IS NOT DISTINCT FROM budgets.user_id
        AND first.month = budgets.month
    WHERE budgets.measure = 'commission'
    GROUP BY ALL
)

SELECT
    changed.office_id,
    coalesce(offices.office_name, changed.office_id) AS office_name,
    changed.first_month,
    changed.last_month,
    coalesce(
        (
            SELECT list(DISTINCT first.month ORDER BY first.month)
            FROM first_readings AS first
            WHERE first.office_id = changed.office_id AND year(first.month) = year(changed.first_month)
        ),
        []
    ) AS read_first_months,
    changed.agents,
    changed.agents_differences,
    nullif(changed.amount_after - changed.difference, 0)::DECIMAL(18, 4) AS amount_before,
    changed.amount_after::DECIMAL(18, 4) AS amount_after,
    changed.difference
FROM offices_changed AS changed
LEFT JOIN marts.offices AS offices ON offices.office_id = changed.office_id
ORDER BY abs(changed.difference) DESC, changed.office_id, changed.first_month
