-- Are there budgets without a known office, with several amounts at once, or that may be sums of others?
-- One row per report and trouble; `brokerbi shapes` shows what a budget report looks like.
-- Severity: warning
-- Concerns: budgets
WITH beside_others AS (
    SELECT
        *,
        sum(amount) FILTER (user_id IS NOT NULL) OVER of_office AS total,
        count(*) FILTER (user_id IS NOT NULL AND amount <> 0) OVER of_office AS amount_count
    FROM marts.budgets
    WHERE valid_to_utc IS NULL
    WINDOW of_office AS (PARTITION BY report, office_id, month, measure)
),

standing AS (
    SELECT 'budget_commission' AS report, 'commission' AS measure, _customer, _month, office_id, user_id
    FROM bi.budget_commission_history
    WHERE valid_to_utc IS NULL AND commission_budget IS NOT NULL
    UNION ALL
    SELECT 'office_budget_commission', 'commission', _customer, _month, office_id, user_id
    FROM bi.office_budget_commission_history
    WHERE valid_to_utc IS NULL AND commission_budget IS NOT NULL
    UNION ALL
    SELECT 'budget_sold_estates', 'sold estates', _customer, _month, office_id, user_id
    FROM bi.budget_sold_estates_history
    WHERE valid_to_utc IS NULL AND sold_budget IS NOT NULL
    UNION ALL
    SELECT 'office_budget_estate', 'sold estates', _customer, _month, office_id, user_id
    FROM bi.office_budget_estate_history
    WHERE valid_to_utc IS NULL AND sold_budget IS NOT NULL
)

SELECT report, measure, 'several amounts at once for one office, user and month', count(*)
FROM (
    SELECT report, measure, office_id, user_id, month
    FROM marts.budgets
    WHERE valid_to_utc IS NULL
    GROUP BY ALL
    HAVING count(*) > 1
)
GROUP BY ALL
UNION ALL
SELECT standing.report, standing.measure, 'of no office that is known, so in no mart', count(*)
FROM standing
ANTI JOIN marts.budgets AS placed
    ON placed._customer = standing._customer
    AND placed.month = standing._month
    AND placed.measure = standing.measure
    AND placed.user_id IS NOT DISTINCT FROM standing.user_id
WHERE coalesce(trim(standing.office_id, ' 0-'), '') = ''
GROUP BY ALL
UNION ALL
SELECT report, measure, 'of no user, beside budgets of users: it may hold them, and is not their sum', count(*)
FROM beside_others
WHERE user_id IS NULL AND amount <> 0 AND amount_count > 0
GROUP BY ALL
UNION ALL
SELECT report, measure, 'one user has the sum of all others of the office in every month: it may be a total', sum(row_count)
FROM (
    SELECT report, measure, office_id, user_id, count(*) AS row_count
    FROM beside_others
    WHERE user_id IS NOT NULL
    GROUP BY ALL
    HAVING bool_and(coalesce(2 * amount = total, false)) AND count(DISTINCT month) FILTER (amount_count > 2) >= 3
)
GROUP BY ALL
