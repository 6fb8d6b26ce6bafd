-- Whose budgets were entered, changed or taken back after their month was first read, by how much, and when?
-- One row per office, user, month and measure with such a change.
--
-- first_amount is null if there was no budget at first, amount_now if the budget was taken back. marts.budget_changes
-- has each change, marts.budgets each version; marts.budget_as_of(TIMESTAMP '2026-03-01') has the budgets at a moment.
-- Parameters: year, office
SELECT
    any_value(changes.office_name) AS office_name,
    any_value(users.user_label) AS agent,
    month,
    measure,
    arg_min_null(amount_before, noted_at_utc) AS first_amount,
    arg_max_null(amount_after, noted_at_utc) AS amount_now,
    count(*) AS change_count,
    max(noted_on) AS last_noted_on,
    changes.office_id,
    user_id
FROM marts.budget_changes AS changes
LEFT JOIN marts.users AS users USING (user_id)
WHERE year(month) = coalesce(getvariable('year'), year(month))
    AND changes.office_id = coalesce(getvariable('office'), changes.office_id)
GROUP BY changes.office_id, user_id, month, measure
ORDER BY last_noted_on DESC, office_name, agent, month, measure, user_id;
