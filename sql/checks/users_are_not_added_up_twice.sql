-- Do two customers answer with the same amounts for one user, so that the user is counted twice?
-- One row per user and set of customers; each customer may report the user's whole commission instead of its part.
-- Severity: warning
-- Concerns: agents
SELECT
    user_id,
    user_label,
    customers,
    count(*) AS month_count,
    min(month) AS first_month,
    max(month) AS last_month,
    sum(commission) AS commission,
    sum(largest_commission) AS commission_counted_once
FROM marts.users_added_up
WHERE has_equal_amounts
GROUP BY ALL
ORDER BY month_count DESC, user_id
