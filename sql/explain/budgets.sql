-- What was budgeted for the month and the year, and how much of it is reached?
-- One row per measure with a budget in the year. The month's budget is null where it has none; the year to date is that of
-- the latest month that has a row, as nothing was budgeted or done after it; the forecast is today's, which is that of the
-- year's latest month that is over, and seen_from_month says which. Nothing more than what is reached so far is forecast of
-- a user who has left the directory, or is without a trace in three months.
-- Without office and user it is the chain, whose months with a budget nobody counts.
-- Parameters: office, user, month
WITH lines AS (
    SELECT * FROM marts.budget_vs_actual
    WHERE year(month) = year(getvariable('month')::DATE)
        AND (
            (office_id = getvariable('office') AND user_id IS NULL)
            OR user_id = getvariable('user')
        )
    UNION ALL BY NAME
    SELECT * FROM marts.chain_budget_vs_actual
    WHERE year(month) = year(getvariable('month')::DATE)
        AND getvariable('office') IS NULL AND getvariable('user') IS NULL
),

over AS (
    SELECT
        max(month) FILTER (year(month) = year(getvariable('month')::DATE)) AS month,
        max(month) AS last_month
    FROM marts.office_month
    WHERE NOT is_open
),

worked AS (
    SELECT max(last_active_month) AS last_month FROM marts.user_month WHERE user_id = getvariable('user')
),

leaving AS (
    SELECT
        over.month,
        coalesce(
            over.month > worked.last_month + INTERVAL 2 MONTH
            OR (
                over.month >= least(worked.last_month, over.last_month)
                AND (
                    users.left_directory_on IS NOT NULL
                    OR (users.is_missing_in_directory AND worked.last_month < over.last_month)
                )
            ),
            false
        ) AS has_left
    FROM over
    CROSS JOIN worked
    LEFT JOIN marts.users AS users ON users.user_id = getvariable('user')
),

chosen AS (
    SELECT
        lines.measure,
        arg_max(lines, lines.month) FILTER (lines.month = getvariable('month')::DATE) AS of_month,
        arg_max(lines, lines.month) FILTER (lines.month <= getvariable('month')::DATE) AS so_far,
        arg_max(lines, lines.month) FILTER (NOT lines.is_open) AS latest,
        arg_max(lines, lines.month) FILTER (lines.year_to_date_actual IS NOT NULL) AS last_reached,
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
    leaving.has_left,
    CASE WHEN leaving.has_left THEN last_reached.year_to_date_actual ELSE latest.year_forecast END AS year_forecast,
    CASE WHEN leaving.has_left THEN leaving.month ELSE latest.month END AS seen_from_month,
    any_line.basis_note AS basis_note
FROM chosen
CROSS JOIN leaving
ORDER BY measure
