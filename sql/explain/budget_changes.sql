-- Which budgets of the months were changed, entered or taken back after the first reading of their month?
-- One row per row of marts.budget_changes, of the chain with the office, the latest first. amount_before is null
-- where the budget was entered, amount_after where it was taken back. What a user had at two offices counts at each of
-- them. All is on the basis of the number, as in budgets.sql.
-- Parameters: kind, id, first_month, month, measure
SELECT
    changes.noted_on,
    changes.month,
    CASE WHEN getvariable('kind') = 'chain' THEN coalesce(changes.office_name, changes.office_id) END AS office,
    coalesce(users.user_label, changes.user_id, 'nobody in person') AS who,
    on_basis_of_number(changes.amount_before, basis)::DECIMAL(28, 8) AS amount_before,
    on_basis_of_number(changes.amount_after, basis)::DECIMAL(28, 8) AS amount_after,
    on_basis_of_number(changes.difference, basis)::DECIMAL(28, 8) AS difference
FROM marts.budget_changes AS changes
LEFT JOIN marts.users AS users USING (user_id)
LEFT JOIN meta.tax_basis AS basis ON true
WHERE changes.measure = budget_of(getvariable('measure'))
    AND changes.month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    AND is_asked_for(changes.office_id, changes.user_id)
ORDER BY changes.noted_at_utc DESC, changes.month, changes.difference, office, who
