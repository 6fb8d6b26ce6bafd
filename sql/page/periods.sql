-- What was earned in each period, compared with the year before and the budget?
-- One row per page (the chain, a brand, a region or an office), period and office, and one per page and period for all
-- of its offices. The row for all has no office_id. Declared VAT is deducted.
-- Periods are the current month, the last whole month, and the year and the twelve months up to that. The twelve months
-- have no rows of single offices, and none at all up to a December, when they are the year.
-- Changes are like for like: they cover the offices that marts.growth compares, and compared_offices counts these. Two
-- columns cover all offices, even those that opened or closed: total_change and commission_before. The current month is
-- not compared. Averages are compared only with at least 25 homes in both periods. open_offices leaves out offices that
-- closed before the period. began_month is that of the first office, or null if one of them may have begun a year or more
-- before the period. agents is the average number of active agents over the months in which an office was open.
-- actual is the commission of the offices and months that have a budget. unbudgeted_months are months without a budget
-- in which an office with a budget for other months of the year earned something; each stands once per office.
-- unbudgeted_office is one of these offices.
-- year_forecast and year_budget cover the offices with a budget for every month of the year since they began. A single
-- office has a year_forecast even without such a budget, and a forecast_share of its months with a budget. A year that
-- has ended has no forecast. budget_months counts an office's months with a budget.
WITH office_months AS (
    SELECT
        months.* REPLACE (
            without_vat(months.commission, basis) AS commission,
            without_vat(months.sold_commission, basis) AS sold_commission,
            max(months.began_month) OVER office_window AS began_month,
            max(months.closed_after_month) OVER office_window AS closed_after_month,
            CASE
                WHEN months.budget_month_count >= datediff(
                    'month', greatest(months.began_month, date_trunc('year', months.month)),
                    date_trunc('year', months.month) + INTERVAL 1 YEAR
                )
                THEN nullif(months.year_budget, 0)
            END AS year_budget,
            arg_max_null(months.year_forecast, months.month) FILTER (NOT months.is_budget_open) OVER (
                PARTITION BY months.level, months.member_id, months.office_id, year(months.month)
            ) AS year_forecast
        ),
        months.level AS kind,
        coalesce(months.member_id, '') AS scope,
        CASE WHEN months.is_whole THEN last_day(months.month) ELSE greatest(local_day(months.read_at_utc), months.month) END AS until_on
    FROM marts.level_office_month AS months
    LEFT JOIN meta.tax_basis AS basis ON true
    WHERE months.level = 'chain' OR months.member_id IS NOT NULL
    WINDOW office_window AS (PARTITION BY months.level, months.member_id, months.office_id)
),

loaded_months AS (
    SELECT kind, scope, month, bool_or(is_open) AS is_begun, bool_or(is_whole) AS is_ended
    FROM office_months
    GROUP BY ALL
    HAVING count(commission) > 0
),

spans AS (
    SELECT
        kind,
        scope,
        min(month) AS oldest,
        max(month) AS newest,
        max(month) FILTER (is_begun) AS running,
        max(month) FILTER (is_ended AND NOT is_begun) AS last_whole
    FROM loaded_months
    GROUP BY ALL
),

possible_periods AS (
    SELECT kind, scope, oldest, last_whole IS NOT NULL AS is_over, unnest([
        {'period': 'running', 'period_start': running, 'last_month': running},
        {'period': 'month', 'period_start': last_whole, 'last_month': last_whole},
        {
            'period': 'year',
            'period_start': date_trunc('year', coalesce(last_whole, newest))::DATE,
            'last_month': coalesce(last_whole, newest)
        },
        {'period': 'twelve', 'period_start': (last_whole - INTERVAL 11 MONTH)::DATE, 'last_month': last_whole}
    ], recursive := true)
    FROM spans
),

periods AS (
    SELECT * EXCLUDE (is_over), is_over AND period <> 'running' AS is_over, greatest(period_start, oldest) AS first_month
    FROM possible_periods
    WHERE period <> 'twelve' OR period_start >= oldest AND month(last_month) < 12
),

page_months AS (
    SELECT
        periods.period,
        periods.first_month,
        periods.last_month,
        periods.period_start,
        periods.is_over,
        office_months.* REPLACE (
            CASE
                WHEN periods.period = 'year' AND periods.is_over AND office_months.month = periods.last_month AND month(periods.last_month) < 12
                    THEN office_months.year_forecast
            END AS year_forecast
        ),
        office_months.month >= periods.first_month AS is_now,
        list_contains(string_split(growth.compared_offices, ', '), office_months.office_id) AS is_compared
    FROM periods
    INNER JOIN office_months
        ON office_months.kind = periods.kind AND office_months.scope = periods.scope
        AND (
            office_months.month BETWEEN periods.first_month AND periods.last_month
            OR office_months.month BETWEEN periods.first_month - INTERVAL 1 YEAR AND periods.last_month - INTERVAL 1 YEAR
        )
    LEFT JOIN marts.growth AS growth
        ON periods.is_over
        AND (growth.level, growth.month) = (office_months.level, periods.last_month)
        AND growth.member_id IS NOT DISTINCT FROM office_months.member_id
        AND growth.period = CASE periods.period WHEN 'year' THEN 'year to date' WHEN 'twelve' THEN 'twelve months' ELSE 'month' END
),

-- Each figure is computed three times: from all that is known of a period, and from compared offices now and before.
sides AS (
    SELECT 'all' AS side, * FROM page_months WHERE is_now
    UNION ALL
    SELECT CASE WHEN is_now THEN 'now' ELSE 'before' END, * FROM page_months WHERE is_compared
),

figures AS (
    SELECT
        kind,
        scope,
        period,
        office_id,
        side,
        any_value(first_month)::DATE AS first_month,
        any_value(last_month)::DATE AS last_month,
        any_value(period_start)::DATE AS period_start,
        bool_and(is_over) AS is_over,
        count(DISTINCT sides.office_id) AS offices,
        count(DISTINCT sides.office_id) FILTER (closed_after_month IS NULL OR closed_after_month >= first_month) AS open_offices,
        count(*) - count(commission) AS missing_months,
        count(commission) FILTER (NOT is_whole) AS cut_short,
        max(until_on) FILTER (commission IS NOT NULL) AS until_on,
        CASE WHEN count(*) = count(began_month) THEN min(began_month) END AS began_month,
        max(closed_after_month) AS closed_after_month,
        coalesce(max(budget_month_count), 0) AS budget_months,
        sum(commission) AS commission,
        sum(sold_estate_parts) FILTER (commission IS NOT NULL) AS homes,
        sum(sold_total_price) / nullif(sum(sold_estate_parts), 0) AS average_price,
        sum(sold_commission) / nullif(sum(sold_total_price), 0) AS fee_share,
        sum(sold_commission) / nullif(sum(sold_estate_parts), 0) AS average_commission,
        sum(commission) - CASE WHEN count(commission) = count(sold_commission) THEN sum(sold_commission) END AS other_commission,
        CASE WHEN office_id IS NULL THEN per_active_agent(commission, additive_agent_count) ELSE per_active_agent(commission, active_agent_count) END
            AS per_agent,
        CASE WHEN office_id IS NULL THEN sum(additive_agent_count) ELSE sum(active_agent_count) END / nullif(count(DISTINCT month) FILTER (
            active_agent_count IS NOT NULL AND month BETWEEN coalesce(began_month, month) AND coalesce(closed_after_month, month)
        ), 0) AS agents,
        nullif(sum(budget) FILTER (is_over AND actual IS NOT NULL), 0) AS budget,
        sum(actual) FILTER (is_over AND budget IS NOT NULL) AS actual,
        list(month ORDER BY month) FILTER (is_over AND budget IS NULL AND actual <> 0 AND budget_month_count > 0) AS unbudgeted_months,
        any_value(office_id) FILTER (is_over AND budget IS NULL AND actual <> 0 AND budget_month_count > 0) AS unbudgeted_office_id,
        count(DISTINCT sides.office_id) FILTER (is_over AND budget IS NOT NULL AND actual IS NOT NULL) AS budget_offices,
        sum(year_budget) FILTER (year_forecast IS NOT NULL) AS year_budget,
        sum(year_forecast) FILTER (year_budget IS NOT NULL) AS year_forecast,
        any_value(year_forecast) AS office_forecast,
        count(year_forecast) FILTER (year_budget IS NOT NULL) AS forecast_offices
    FROM sides
    GROUP BY GROUPING SETS ((kind, scope, period, side), (kind, scope, period, side, office_id))
    HAVING office_id IS NULL OR (period <> 'twelve' AND kind <> 'office')
)

SELECT
    figures.kind, figures.scope, figures.period, figures.office_id,
    figures.first_month,
    figures.last_month,
    figures.period_start,
    figures.is_over,
    figures.offices,
    figures.open_offices,
    figures.missing_months,
    figures.cut_short,
    figures.until_on,
    CASE WHEN figures.began_month > figures.first_month - INTERVAL 1 YEAR THEN figures.began_month END AS began_month,
    CASE WHEN figures.office_id IS NOT NULL OR figures.kind = 'office' THEN figures.closed_after_month END AS closed_after_month,
    figures.budget_months,
    figures.commission::DECIMAL(18, 4) AS commission,
    figures.homes::DECIMAL(19, 8) AS homes,
    figures.average_price::DECIMAL(18, 4) AS average_price,
    figures.fee_share::DOUBLE AS fee_share,
    figures.average_commission::DECIMAL(18, 4) AS average_commission,
    figures.other_commission::DECIMAL(18, 4) AS other_commission,
    figures.per_agent::DECIMAL(18, 4) AS per_agent,
    figures.agents::DECIMAL(9, 2) AS agents,
    coalesce(now.offices, 0) AS compared_offices,
    without_vat(total.commission_before, basis)::DECIMAL(18, 4) AS commission_before,
    (now.commission / nullif(before.commission, 0) - 1)::DOUBLE AS commission_change,
    CASE WHEN figures.office_id IS NULL THEN total.growth_share END::DOUBLE AS total_change,
    (now.homes / nullif(before.homes, 0) - 1)::DOUBLE AS homes_change,
    CASE WHEN least(now.homes, before.homes) >= 25 THEN now.average_price / nullif(before.average_price, 0) - 1 END::DOUBLE AS average_price_change,
    CASE WHEN least(now.homes, before.homes) >= 25 THEN now.fee_share - before.fee_share END::DOUBLE AS fee_share_difference,
    CASE WHEN least(now.homes, before.homes) >= 25 THEN now.average_commission / nullif(before.average_commission, 0) - 1 END::DOUBLE AS average_commission_change,
    (now.other_commission / nullif(before.other_commission, 0) - 1)::DOUBLE AS other_commission_change,
    (now.per_agent / nullif(before.per_agent, 0) - 1)::DOUBLE AS per_agent_change,
    figures.budget::DECIMAL(18, 4) AS budget,
    CASE WHEN figures.budget IS NOT NULL THEN figures.actual END::DECIMAL(18, 4) AS actual,
    figures.budget_offices,
    figures.unbudgeted_months,
    coalesce(names.office_name, figures.unbudgeted_office_id) AS unbudgeted_office,
    figures.year_budget::DECIMAL(18, 4) AS year_budget,
    coalesce(figures.year_forecast, CASE WHEN figures.offices = 1 THEN figures.office_forecast END)::DECIMAL(18, 4) AS year_forecast,
    coalesce(figures.year_forecast / nullif(figures.year_budget, 0), CASE WHEN figures.office_forecast IS NOT NULL THEN goals.year_forecast_attainment_share END)::DOUBLE AS forecast_share,
    figures.forecast_offices
FROM (FROM figures WHERE side = 'all') AS figures
LEFT JOIN (FROM figures WHERE side = 'now') AS now
    ON (now.kind, now.scope, now.period) = (figures.kind, figures.scope, figures.period)
    AND now.office_id IS NOT DISTINCT FROM figures.office_id
LEFT JOIN (FROM figures WHERE side = 'before') AS before
    ON (before.kind, before.scope, before.period) = (now.kind, now.scope, now.period)
    AND before.office_id IS NOT DISTINCT FROM now.office_id
LEFT JOIN marts.growth AS total
    ON (total.level, total.month) = (CASE WHEN figures.office_id IS NULL THEN figures.kind ELSE 'office' END, figures.last_month)
    AND total.member_id IS NOT DISTINCT FROM coalesce(figures.office_id, nullif(figures.scope, ''))
    AND total.period = CASE figures.period WHEN 'year' THEN 'year to date' WHEN 'twelve' THEN 'twelve months' ELSE 'month' END
LEFT JOIN marts.office_budget_vs_actual AS goals
    ON (goals.office_id, goals.month, goals.measure) = (coalesce(figures.office_id, figures.scope), figures.last_month, 'commission')
LEFT JOIN marts.offices AS names ON names.office_id = figures.unbudgeted_office_id
LEFT JOIN meta.tax_basis AS basis ON true
WHERE figures.first_month IS NOT NULL
ORDER BY figures.kind, figures.scope, figures.period, figures.office_id
