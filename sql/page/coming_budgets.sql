-- How many of the commission budgets for the year after that of the last whole month have been entered?
-- One row per office with such budgets, or with budgets of this year in the same months, by name. There is no row until
-- one office has such a budget. The months are those of the coming year with a budget at any office. agents counts only
-- agents with a budget of their own. Budgets of agents who have left are in neither year.
WITH current_budgets AS (
    SELECT budgets.office_id, budgets.user_id, budgets.month, sum(budgets.amount) AS amount
    FROM marts.budgets AS budgets
    LEFT JOIN marts.users AS users USING (user_id)
    WHERE budgets.measure = 'commission' AND budgets.valid_to_utc IS NULL AND users.has_left IS NOT TRUE
    GROUP BY ALL
    HAVING sum(budgets.amount) <> 0
),

coming_months AS (
    SELECT DISTINCT month
    FROM current_budgets
    WHERE year(month) = (SELECT year(month) + 1 FROM marts.chain_month WHERE is_last_over)
)

SELECT
    current_budgets.office_id,
    coalesce(any_value(offices.office_name), current_budgets.office_id) AS office_name,
    (SELECT min(month) FROM coming_months) AS first_month,
    (SELECT max(month) FROM coming_months) AS last_month,
    count(DISTINCT current_budgets.user_id) FILTER (current_budgets.month = coming_months.month) AS agents,
    coalesce(sum(current_budgets.amount) FILTER (current_budgets.month = coming_months.month), 0)::DECIMAL(18, 4) AS budget,
    coalesce(sum(current_budgets.amount) FILTER (current_budgets.month < coming_months.month), 0)::DECIMAL(18, 4) AS budget_before
FROM current_budgets
INNER JOIN coming_months ON current_budgets.month IN (coming_months.month, coming_months.month - INTERVAL 1 YEAR)
LEFT JOIN marts.offices AS offices ON offices.office_id = current_budgets.office_id
GROUP BY current_budgets.office_id
ORDER BY office_name, current_budgets.office_id
