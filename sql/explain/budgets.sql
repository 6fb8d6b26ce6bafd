-- What was budgeted for the month and the year, and how much of it is reached?
-- One row per measure with a budget in the year. The month's budget is null where it has none; the year to date is that of
-- the latest month that has a row, as nothing was budgeted or done after it; the forecast is today's, which is that of the
-- year's latest month that is over, and seen_from_month says which. Nothing more is forecast of a user without a trace in
-- three months.
-- Parameters: office, user, month
WITH lines AS (
    SELECT *
    FROM marts.budget_vs_actual
    WHERE year(month) = year(getvariable('month')::DATE)
        AND (
            (office_id = getvariable('office') AND user_id IS NULL)
            OR user_id = getvariable('user')
        )
),

over AS (
    SELECT
        max(month) AS month,
        (SELECT max(last_active_month) FROM marts.user_month WHERE user_id = getvariable('user')) AS last_active_month
    FROM marts.office_month
    WHERE NOT is_open AND year(month) = year(getvariable('month')::DATE)
),

chosen AS (
    SELECT
        lines.measure,
        arg_max(lines, lines.month) FILTER (lines.month = getvariable('month')::DATE) AS of_month,
        arg_max(lines, lines.month) FILTER (lines.month <= getvariable('month')::DATE) AS so_far,
        arg_max(lines, lines.month) FILTER (NOT lines.is_open) AS latest,
        arg_max(lines, lines.month) AS any_line
    FROM lines
    GROUP BY lines.measure
)

SELECT
    measure,
    of_month.budget AS budget,
    of_month.actual AS actual,
    of_month.attainment_share AS attainment_share,
    so_far.year_to_date_budget AS year_to_date_budget,
    so_far.year_to_date_actual AS year_to_date_actual,
    so_far.year_to_date_attainment_share AS year_to_date_attainment_share,
    so_far.year_to_date_budget_month_count AS year_to_date_budget_month_count,
    any_line.year_budget AS year_budget,
    any_line.budget_month_count AS budget_month_count,
    coalesce(over.month > over.last_active_month + INTERVAL 2 MONTH, false) AS has_left,
    CASE WHEN has_left THEN latest.year_to_date_actual ELSE latest.year_forecast END AS year_forecast,
    CASE WHEN has_left THEN over.month ELSE latest.month END AS seen_from_month,
    any_line.basis_note AS basis_note
FROM chosen
CROSS JOIN over
ORDER BY measure
