-- What was budgeted for the month and the year, and how much of it is reached?
-- One row per measure with a budget in the year.
-- Parameters: office, user, month
SELECT
    measure,
    budget,
    actual,
    attainment_share,
    year_to_date_budget,
    year_to_date_actual,
    year_to_date_attainment_share,
    year_to_date_budget_month_count,
    year_budget,
    budget_month_count,
    year_forecast,
    basis_note
FROM marts.budget_vs_actual
WHERE month = getvariable('month')::DATE
    AND (
        (office_id = getvariable('office') AND user_id IS NULL)
        OR user_id = getvariable('user')
    )
ORDER BY measure
