-- What was earned in each period, compared with the year before and the budget?
-- One row per page (the chain, a brand, a region or an office), period and office, and one without an office for all
-- offices: the current month, the last whole month, the year to it and the twelve months to it. Single offices have
-- only the last whole month and the year. A month counts as in marts.chain_month. Changes are like for like: they
-- cover the offices that marts.growth compares, and compared_offices counts them; but total_change and
-- commission_before cover all offices, even those that opened or closed. The current month is compared with nothing. A
-- budget is compared with the actual of the offices that have one. The year's forecast is that of each office's latest
-- month that is over, if all months of the year since it began have a budget; budget_months counts them. open_offices
-- leaves out those that closed before the period. Declared VAT is deducted. Figures come three times: all that is known
-- of a period, and the compared ones now and before.
WITH of_pages AS (
    SELECT
        months.* REPLACE (
            without_vat(months.commission, basis) AS commission,
            without_vat(months.sold_commission, basis) AS sold_commission,
            max(months.began_month) OVER of_office AS began_month,
            max(months.closed_after_month) OVER of_office AS closed_after_month,
            CASE
                WHEN months.budget_month_count >= datediff(
                    'month', greatest(months.began_month, date_trunc('year', months.month)), date_trunc('year', months.month) + INTERVAL 1 YEAR
                )
                THEN nullif(months.year_budget, 0)
            END AS year_budget,
            arg_max_null(months.year_forecast, months.month) FILTER (NOT months.is_budget_open) OVER (
                PARTITION BY months.level, months.member_id, months.office_id, year(months.month)
            ) AS year_forecast
        ),
        months.level AS kind,
        coalesce(months.member_id, '') AS scope,
        CASE WHEN months.is_whole THEN last_day(months.month) ELSE greatest(months.read_at_utc::DATE, months.month) END AS until_on
    FROM marts.level_office_month AS months
    LEFT JOIN meta.tax_basis AS basis ON true
    WINDOW of_office AS (PARTITION BY months.level, months.member_id, months.office_id)
),

months_of_pages AS (
    SELECT kind, scope, month, bool_or(is_open) AS is_begun, bool_or(is_whole) AS is_ended
    FROM of_pages
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
    FROM months_of_pages
    GROUP BY ALL
),

periods_wanted AS (
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
    FROM periods_wanted
    WHERE period <> 'twelve' OR period_start >= oldest
),

page_months AS (
    SELECT
        periods.period,
        periods.first_month,
        periods.last_month,
        periods.period_start,
        periods.is_over,
        of_pages.*,
        of_pages.month >= periods.first_month AS is_now,
        list_contains(string_split(growth.compared_offices, ', '), of_pages.office_id) AS is_compared
    FROM periods
    INNER JOIN of_pages
        ON of_pages.kind = periods.kind AND of_pages.scope = periods.scope
        AND (
            of_pages.month BETWEEN periods.first_month AND periods.last_month
            OR of_pages.month BETWEEN periods.first_month - INTERVAL 1 YEAR AND periods.last_month - INTERVAL 1 YEAR
        )
    LEFT JOIN marts.growth AS growth
        ON periods.is_over
        AND (growth.level, growth.month) = (of_pages.level, periods.last_month)
        AND growth.member_id IS NOT DISTINCT FROM of_pages.member_id
        AND growth.period = CASE periods.period WHEN 'year' THEN 'year to date' WHEN 'twelve' THEN 'twelve months' ELSE 'month' END
),

-- The figures three times: all that is known of a period, and the compared ones now and before.
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
        count(*) AS wanted,
        count(commission) AS known,
        count(commission) FILTER (NOT is_whole) AS cut_short,
        max(until_on) FILTER (commission IS NOT NULL) AS until_on,
        max(began_month) AS began_month,
        max(closed_after_month) AS closed_after_month,
        coalesce(max(budget_month_count), 0) AS budget_months,
        sum(commission) AS commission,
        sum(sold_estate_parts) FILTER (commission IS NOT NULL) AS homes,
        CASE WHEN count(commission) = count(sold_commission) THEN sum(sold_commission) END AS sold_commission,
        sum(sold_total_price) / nullif(sum(sold_estate_parts), 0) AS average_price,
        sum(sold_commission) / nullif(sum(sold_total_price), 0) AS fee_share,
        sum(sold_commission) / nullif(sum(sold_estate_parts), 0) AS average_commission,
        sum(commission) - CASE WHEN count(commission) = count(sold_commission) THEN sum(sold_commission) END AS other_commission,
        per_active_agent(commission, active_agent_count) AS per_agent,
        sum(active_agent_count) / nullif(count(DISTINCT month) FILTER (active_agent_count IS NOT NULL), 0) AS agents,
        nullif(sum(budget) FILTER (is_over AND actual IS NOT NULL), 0) AS budget,
        sum(actual) FILTER (is_over AND budget IS NOT NULL) AS actual,
        count(DISTINCT sides.office_id) FILTER (is_over AND budget IS NOT NULL AND actual IS NOT NULL) AS budget_offices,
        sum(year_budget) FILTER (is_over AND month = last_month AND year_forecast IS NOT NULL) AS year_budget,
        sum(year_forecast) FILTER (is_over AND month = last_month AND year_budget IS NOT NULL) AS year_forecast,
        count(*) FILTER (is_over AND month = last_month AND year_budget IS NOT NULL AND year_forecast IS NOT NULL) AS forecast_offices
    FROM sides
    GROUP BY GROUPING SETS ((kind, scope, period, side), (kind, scope, period, side, office_id))
    HAVING office_id IS NULL OR (period IN ('month', 'year') AND kind <> 'office')
)

SELECT
    found.kind,
    found.scope,
    found.period,
    found.office_id,
    found.first_month,
    found.last_month,
    found.period_start,
    found.is_over,
    found.offices,
    found.open_offices,
    found.wanted - found.known AS missing_months,
    found.cut_short,
    found.until_on,
    CASE WHEN found.began_month > found.first_month - INTERVAL 1 YEAR THEN found.began_month END AS began_month,
    CASE WHEN found.office_id IS NOT NULL OR found.kind = 'office' THEN found.closed_after_month END AS closed_after_month,
    found.budget_months,
    found.commission::DECIMAL(18, 4) AS commission,
    found.homes::DECIMAL(19, 8) AS homes,
    found.average_price::DECIMAL(18, 4) AS average_price,
    found.fee_share::DOUBLE AS fee_share,
    found.average_commission::DECIMAL(18, 4) AS average_commission,
    found.other_commission::DECIMAL(18, 4) AS other_commission,
    found.per_agent::DECIMAL(18, 4) AS per_agent,
    found.agents::DECIMAL(9, 2) AS agents,
    coalesce(now.offices, 0) AS compared_offices,
    without_vat(total.commission_before, basis)::DECIMAL(18, 4) AS commission_before,
    (now.commission / nullif(before.commission, 0) - 1)::DOUBLE AS commission_change,
    CASE WHEN found.office_id IS NULL THEN total.growth_share END::DOUBLE AS total_change,
    (now.homes / nullif(before.homes, 0) - 1)::DOUBLE AS homes_change,
    (now.average_price / nullif(before.average_price, 0) - 1)::DOUBLE AS average_price_change,
    (now.fee_share - before.fee_share)::DOUBLE AS fee_share_difference,
    (now.average_commission / nullif(before.average_commission, 0) - 1)::DOUBLE AS average_commission_change,
    (now.other_commission / nullif(before.other_commission, 0) - 1)::DOUBLE AS other_commission_change,
    (now.per_agent / nullif(before.per_agent, 0) - 1)::DOUBLE AS per_agent_change,
    found.budget::DECIMAL(18, 4) AS budget,
    CASE WHEN found.budget IS NOT NULL THEN found.actual END::DECIMAL(18, 4) AS actual,
    found.budget_offices,
    found.year_budget::DECIMAL(18, 4) AS year_budget,
    found.year_forecast::DECIMAL(18, 4) AS year_forecast,
    found.forecast_offices
FROM (FROM figures WHERE side = 'all') AS found
LEFT JOIN (FROM figures WHERE side = 'now') AS now
    ON (now.kind, now.scope, now.period) = (found.kind, found.scope, found.period)
    AND now.office_id IS NOT DISTINCT FROM found.office_id
LEFT JOIN (FROM figures WHERE side = 'before') AS before
    ON (before.kind, before.scope, before.period) = (now.kind, now.scope, now.period)
    AND before.office_id IS NOT DISTINCT FROM now.office_id
LEFT JOIN marts.growth AS total
    ON (total.level, total.month) = (CASE WHEN found.office_id IS NULL THEN found.kind ELSE 'office' END, found.last_month)
    AND total.member_id IS NOT DISTINCT FROM coalesce(found.office_id, nullif(found.scope, ''))
    AND total.period = CASE found.period WHEN 'year' THEN 'year to date' WHEN 'twelve' THEN 'twelve months' ELSE 'month' END
LEFT JOIN meta.tax_basis AS basis ON true
WHERE found.first_month IS NOT NULL
ORDER BY found.kind, found.scope, found.period, found.office_id
