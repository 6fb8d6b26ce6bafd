-- What is budgeted for the month, the year to date and the year, and how much of it is reached?
-- One row per period with a budget. Nothing is a share of a month that is not over, and the year to date ends with the
-- latest that is. Reached of the year is the forecast of today: where the latest month that is over has a row, as
-- nobody who has left has. All is on the basis of the number: where commission is declared to have VAT in it, its
-- budgets have that VAT here too.
-- Parameters: kind, id, month, measure
WITH lines AS (
    FROM marts.office_budget_vs_actual WHERE getvariable('kind') = 'office' AND office_id = getvariable('id')
    UNION ALL BY NAME
    FROM marts.user_budget_vs_actual WHERE getvariable('kind') = 'user' AND user_id = getvariable('id')
    UNION ALL BY NAME
    FROM marts.chain_budget_vs_actual WHERE getvariable('kind') = 'chain'
),

of_year AS (
    SELECT *, max(month) FILTER (NOT is_open AND month <= getvariable('month')::DATE) OVER () AS last_so_far
    FROM lines
    WHERE year(month) = year(getvariable('month')::DATE) AND measure = budget_of(getvariable('measure'))
),

periods AS (
    SELECT
        months_of(month, month) AS period, budget, actual AS reached,
        CASE WHEN NOT is_open THEN attainment_share END AS reached_share, NULL::BIGINT AS budget_month_count
    FROM of_year
    WHERE month = getvariable('month')::DATE
    UNION ALL
    SELECT
        months_of(date_trunc('year', month), month), year_to_date_budget, year_to_date_actual,
        year_to_date_attainment_share, year_to_date_budget_month_count
    FROM of_year
    WHERE month = last_so_far AND month(getvariable('month')::DATE) > 1
    UNION ALL
    SELECT
        'all of ' || year(any_value(month)), any_value(year_budget),
        any_value(year_forecast) FILTER (month = over.last_month),
        any_value(year_forecast_attainment_share) FILTER (month = over.last_month), any_value(budget_month_count)
    FROM of_year
    CROSS JOIN (
        SELECT max(month) AS last_month
        FROM marts.office_month
        WHERE NOT is_open AND year(month) = year(getvariable('month')::DATE)
    ) AS over
    HAVING count(*) > 0
)

SELECT
    period,
    on_basis_of_number(budget, basis)::DECIMAL(28, 8) AS budget,
    on_basis_of_number(reached, basis)::DECIMAL(28, 8) AS reached,
    reached_share,
    budget_month_count
FROM periods
LEFT JOIN meta.tax_basis AS basis ON true
WHERE budget IS NOT NULL
