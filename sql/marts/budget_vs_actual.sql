-- How far are offices and users from their budgets, and where will the year end?
-- One row per office, user, month and measure with a budget; a row without a user is the office as a whole.
-- An office's budget is the sum of its users' budgets, and of what is budgeted for nobody in person. Commission
-- is compared with all commission of the user or office, sold estates with parts of homes; what is done of other
-- measures is not in any documented report.
-- The forecast says: as it went so far, so the rest of the budget will go. It looks at months that are over, so
-- the row of the latest of them holds today's forecast; it is null where a month of the year so far is unknown.
-- Columns:
--   office_id: customer id of the office
--   office_name: name of the office
--   user_name: name of the user
--   user_id: id of the user; null for the office as a whole
--   budget: the amount budgeted for the month
--   actual: what was reached in the month; null where it is unknown
--   attainment_share: actual in parts of budget, 1 when just reached; null without a budget
--   year_to_date_budget: budget from January to the month
--   year_to_date_actual: what was reached from January to the month; null where a month of these is unknown
--   year_to_date_attainment_share: the same in parts of the budget
--   year_budget: budget of the whole year, as far as budgets are known
--   year_forecast: where the year will end
--   year_forecast_attainment_share: that in parts of the year's budget
--   is_open: whether the month is not over yet, or still to come, as far as is known
WITH current_budgets AS (
    SELECT office_id, user_id, month, measure, sum(amount)::DECIMAL(18, 4) AS budget
    FROM marts.budgets
    WHERE valid_to_utc IS NULL
    GROUP BY GROUPING SETS ((office_id, user_id, month, measure), (office_id, month, measure))
    HAVING grouping(user_id) = 1 OR user_id IS NOT NULL
),

actuals AS (
    SELECT office_id, NULL AS user_id, month, commission, sold_estate_parts, is_open FROM marts.office_month
    UNION ALL
    SELECT NULL, user_id, month, commission, sold_estate_parts, is_open FROM marts.user_month
),

compared AS (
    SELECT
        budgets.*,
        CASE budgets.measure
            WHEN 'commission' THEN actuals.commission
            WHEN 'sold estates' THEN actuals.sold_estate_parts::DECIMAL(18, 4)
        END AS actual,
        coalesce(
            actuals.is_open,
            budgets.month > (SELECT max(month) FROM marts.office_month WHERE NOT is_open),
            true
        ) AS is_open
    FROM current_budgets AS budgets
    LEFT JOIN actuals
        ON actuals.month = budgets.month
        AND actuals.user_id IS NOT DISTINCT FROM budgets.user_id
        AND (actuals.office_id = budgets.office_id OR budgets.user_id IS NOT NULL)
),

summed AS (
    SELECT
        *,
        sum(budget) OVER so_far AS year_to_date_budget,
        CASE WHEN count(actual) OVER so_far = count(*) OVER so_far THEN sum(actual) OVER so_far END
            AS year_to_date_actual,
        sum(budget) OVER (PARTITION BY office_id, user_id, measure, year(month)) AS year_budget
    FROM compared
    WINDOW so_far AS (PARTITION BY office_id, user_id, measure, year(month) ORDER BY month)
)

SELECT
    summed.month,
    summed.office_id,
    offices.office_name,
    summed.user_id,
    users.user_name,
    summed.measure,
    summed.budget,
    summed.actual,
    (summed.actual / nullif(summed.budget, 0))::DECIMAL(18, 8) AS attainment_share,
    summed.year_to_date_budget::DECIMAL(18, 4) AS year_to_date_budget,
    summed.year_to_date_actual::DECIMAL(18, 4) AS year_to_date_actual,
    (summed.year_to_date_actual / nullif(summed.year_to_date_budget, 0))::DECIMAL(18, 8)
        AS year_to_date_attainment_share,
    summed.year_budget::DECIMAL(18, 4) AS year_budget,
    (CASE WHEN NOT summed.is_open THEN
        summed.year_to_date_actual
        + (summed.year_budget - summed.year_to_date_budget)
        * coalesce(summed.year_to_date_actual / nullif(summed.year_to_date_budget, 0), 1)
    END)::DECIMAL(18, 4) AS year_forecast,
    (year_forecast / nullif(summed.year_budget, 0))::DECIMAL(18, 8) AS year_forecast_attainment_share,
    summed.is_open
FROM summed
LEFT JOIN marts.offices AS offices USING (office_id)
LEFT JOIN marts.users AS users USING (user_id)
ORDER BY year(summed.month), summed.office_id, summed.month, summed.user_id NULLS FIRST, measure
