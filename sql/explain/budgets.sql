-- What is budgeted for the month, the year to date and the year, and how much of it is reached?
-- One row for the month and one for the latest of the year that is over, which has the year so far and the forecast of today,
-- from marts.office_budget_vs_actual, user_budget_vs_actual or chain_budget_vs_actual: without VAT, as far as that is declared.
-- Parameters: kind, id, month, measure
SELECT
    month,
    is_open,
    budget,
    actual,
    attainment_share,
    year_to_date_budget,
    year_to_date_actual,
    year_to_date_attainment_share,
    year_budget,
    budget_month_count,
    year_forecast,
    year_forecast_attainment_share,
    basis_note
FROM (
    FROM marts.office_budget_vs_actual WHERE getvariable('kind') = 'office' AND office_id = getvariable('id')
    UNION ALL BY NAME
    FROM marts.user_budget_vs_actual WHERE getvariable('kind') = 'user' AND user_id = getvariable('id')
    UNION ALL BY NAME
    FROM marts.chain_budget_vs_actual WHERE getvariable('kind') = 'chain'
)
WHERE year(month) = year(getvariable('month')::DATE) AND measure = budget_of(getvariable('measure'))
QUALIFY month = getvariable('month')::DATE OR month = max(month) FILTER (NOT is_open) OVER ()
ORDER BY month
