-- How far are the commission budgets of the coming year entered?
-- One row per office with such budgets, or with budgets of this year in the same months, the office that lacks most
-- first; no row until one office has such a budget. The months are those with a budget at any office. Only agents with
-- a budget of their own are counted. Agents who have left are in neither year.
WITH now AS (
    SELECT budgets.office_id, budgets.user_id, budgets.month, sum(budgets.amount) AS amount
    FROM marts.budgets AS budgets
    LEFT JOIN marts.users AS users USING (user_id)
    WHERE budgets.measure = 'commission' AND budgets.valid_to_utc IS NULL AND users.has_left IS NOT TRUE
    GROUP BY ALL
    HAVING sum(budgets.amount) <> 0
),

coming AS (
    SELECT DISTINCT month
    FROM now
    WHERE year(month) = (SELECT year(max(month)) + 1 FROM marts.office_month)
)

SELECT
    now.office_id,
    coalesce(any_value(offices.office_name), now.office_id) AS office_name,
    (SELECT min(month) FROM coming) AS first_month,
    (SELECT max(month) FROM coming) AS last_month,
    count(DISTINCT now.user_id) FILTER (now.month = coming.month) AS agents,
    count(DISTINCT now.user_id) FILTER (now.month < coming.month) AS agents_before,
    sum(now.amount) FILTER (now.month = coming.month)::DECIMAL(18, 4) AS budget,
    sum(now.amount) FILTER (now.month < coming.month)::DECIMAL(18, 4) AS budget_before
FROM now
INNER JOIN coming ON now.month IN (coming.month, coming.month - INTERVAL 1 YEAR)
LEFT JOIN marts.offices AS offices ON offices.office_id = now.office_id
GROUP BY now.office_id
ORDER BY coalesce(budget, 0) - coalesce(budget_before, 0), now.office_id
