-- Which budgets of commission were entered or changed since the moment that is compared with?
-- One row per office and year, the largest change first: the months of it that changed, the office's budget of these before
-- (null where it had none) and now, and the agents whose own changed, by how much, the largest change first. A month that was
-- not asked for before, or of an office that was not known, is read for the first time, which is no news.
WITH since AS (
    SELECT since_utc AS at_utc FROM meta.news_since
),

months_asked AS (
    SELECT DISTINCT loads.report, loads.customer AS customer_id, unnest(loads.months) AS month
    FROM meta.loads AS loads
    INNER JOIN since ON loads.fetched_at_utc <= since.at_utc
    WHERE loads.status = 'loaded' AND loads.report IN (SELECT report FROM marts.budgets)
),

offices_known AS (
    SELECT DISTINCT totals.office_id
    FROM marts.month_total_versions AS totals
    INNER JOIN since ON totals.valid_from_utc <= since.at_utc
),

budgets_of_agents AS (
    SELECT
        budgets.office_id,
        budgets.month,
        budgets.user_id,
        sum(amount) FILTER (valid_from_utc <= since.at_utc AND coalesce(valid_to_utc > since.at_utc, true)) AS amount_before,
        sum(amount) FILTER (valid_to_utc IS NULL) AS amount,
        any_value(budgets.report) AS report,
        any_value(budgets._customer) AS customer_id
    FROM marts.budgets AS budgets
    INNER JOIN since ON since.at_utc IS NOT NULL
    WHERE measure = 'commission'
    GROUP BY ALL
),

months_compared AS (
    SELECT
        *,
        amount_before IS DISTINCT FROM amount AND (
            count(amount_before) OVER (PARTITION BY office_id, month) > 0
            OR (
                (report, customer_id, month) IN (SELECT (report, customer_id, month) FROM months_asked)
                AND office_id IN (SELECT office_id FROM offices_known)
            )
        ) AS is_changed
    FROM budgets_of_agents
),

agents_changed AS (
    SELECT
        months.office_id,
        year(months.month) AS of_year,
        min(months.month) AS first_month,
        max(months.month) AS last_month,
        coalesce(any_value(users.user_label), months.user_id) AS agent,
        (coalesce(sum(months.amount), 0) - coalesce(sum(months.amount_before), 0))::DECIMAL(18, 4) AS difference
    FROM months_compared AS months
    LEFT JOIN marts.users AS users ON users.user_id = months.user_id
    WHERE months.is_changed
    GROUP BY months.office_id, months.user_id, of_year
),

years AS (
    SELECT
        office_id,
        min(first_month) AS first_month,
        max(last_month) AS last_month,
        coalesce(list(agent ORDER BY abs(difference) DESC, agent) FILTER (agent IS NOT NULL), []) AS agents,
        coalesce(list(difference ORDER BY abs(difference) DESC, agent) FILTER (agent IS NOT NULL), []) AS agents_differences
    FROM agents_changed
    GROUP BY office_id, of_year
)

SELECT
    years.office_id,
    coalesce(any_value(offices.office_name), years.office_id) AS office_name,
    years.first_month,
    years.last_month,
    years.agents,
    years.agents_differences,
    sum(months.amount_before)::DECIMAL(18, 4) AS amount_before,
    coalesce(sum(months.amount), 0)::DECIMAL(18, 4) AS amount_after,
    (coalesce(sum(months.amount), 0) - coalesce(sum(months.amount_before), 0))::DECIMAL(18, 4) AS difference
FROM years
INNER JOIN months_compared AS months
    ON months.office_id = years.office_id AND months.month BETWEEN years.first_month AND years.last_month
LEFT JOIN marts.offices AS offices ON offices.office_id = years.office_id
GROUP BY years.office_id, years.first_month, years.last_month, years.agents, years.agents_differences
ORDER BY abs(coalesce(sum(months.amount), 0) - coalesce(sum(months.amount_before), 0)) DESC, years.office_id, years.first_month
