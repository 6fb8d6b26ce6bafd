-- Which budgets of the month were entered, changed or withdrawn after the month was first read?
-- One row per row of marts.budget_changes, the latest first. A user's budgets at two offices have rows of their own.
-- amount_before is null if the budget was entered, amount_after if it was withdrawn.
-- Parameters: kind, id, month, measure
SELECT
    changes.noted_on,
    changes.month,
    coalesce(changes.office_name, changes.office_id) AS office,
    coalesce(users.user_label, changes.user_id, 'no single user') AS who,
    changes.amount_before,
    changes.amount_after,
    changes.difference
FROM marts.budget_changes AS changes
LEFT JOIN marts.users AS users USING (user_id)
WHERE changes.measure = budget_of(getvariable('measure'))
    AND changes.month = getvariable('month')::DATE
    AND is_of_number(changes.office_id, changes.user_id)
ORDER BY changes.noted_at_utc DESC, changes.month, changes.difference, office, who
