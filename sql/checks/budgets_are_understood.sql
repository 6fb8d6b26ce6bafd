-- Are there budgets without a known office, with several amounts at once, or that may be sums of others?
-- One row per report and issue; `brokerbi shapes` shows what a budget report looks like.
-- Severity: warning
-- Concerns: budgets
WITH budgets_with_totals AS (
    SELECT
        *,
        sum(amount) FILTER (user_id IS NOT NULL) OVER of_office AS total,
        count(*) FILTER (user_id IS NOT NULL AND amount <> 0) OVER of_office AS amount_count
    FROM marts.budgets
    WHERE valid_to_utc IS NULL
    WINDOW of_office AS (PARTITION BY report, office_id, month, measure)
),

without_office AS (
    SELECT *
    FROM (
        SELECT 'budget_commission' AS report, 'commission' AS measure, commission_budget AS amount, _customer, _month, office_id, user_id, valid_to_utc
        FROM bi.budget_commission_history
        UNION ALL
        SELECT 'office_budget_commission' AS report, 'commission' AS measure, commission_budget AS amount, _customer, _month, office_id, user_id, valid_to_utc
        FROM bi.office_budget_commission_history
        UNION ALL
        SELECT 'budget_sold_estates' AS report, 'sold estates' AS measure, sold_budget AS amount, _customer, _month, office_id, user_id, valid_to_utc
        FROM bi.budget_sold_estates_history
        UNION ALL
        SELECT 'office_budget_estate' AS report, 'sold estates' AS measure, sold_budget AS amount, _customer, _month, office_id, user_id, valid_to_utc
        FROM bi.office_budget_estate_history
    )
    WHERE valid_to_utc IS NULL AND amount IS NOT NULL AND coalesce(trim(office_id, ' 0-'), '') = ''
)

SELECT report, measure, 'several amounts at once for one office, user and month' AS issue, count(*) AS row_count
FROM (
    SELECT report, measure, office_id, user_id, month
    FROM marts.budgets
    WHERE valid_to_utc IS NULL
    GROUP BY ALL
    HAVING count(*) > 1
)
GROUP BY ALL
UNION ALL
SELECT without_office.report, without_office.measure, 'without a known office, so in no mart', count(*)
FROM without_office
ANTI JOIN marts.budgets AS budgets_in_mart
    ON budgets_in_mart._customer = without_office._customer
    AND budgets_in_mart.month = without_office._month
    AND budgets_in_mart.measure = without_office.measure
    AND (budgets_in_mart.user_id IS NOT DISTINCT FROM without_office.user_id
        -- the budgets of users in another report count in place of one without a user
        OR (without_office.user_id IS NULL AND budgets_in_mart.report <> without_office.report))
GROUP BY ALL
UNION ALL
SELECT report, measure, 'without a user, next to budgets of users: not their sum, but it may include them', count(*)
FROM budgets_with_totals
WHERE user_id IS NULL AND amount <> 0 AND amount_count > 0
GROUP BY ALL
UNION ALL
SELECT report, measure, 'in every month, one user has the sum of all others of the office: it may be a total', sum(row_count)
FROM (
    SELECT report, measure, office_id, user_id, count(*) AS row_count
    FROM budgets_with_totals
    WHERE user_id IS NOT NULL
    GROUP BY ALL
    HAVING bool_and(coalesce(2 * amount = total, false)) AND count(DISTINCT month) FILTER (amount_count > 2) >= 3
        AND sum(abs(amount)) FILTER (amount_count > 2) > 100  -- a few homes are often equal by chance
)
GROUP BY ALL
