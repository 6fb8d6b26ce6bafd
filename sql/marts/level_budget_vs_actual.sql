-- How far are offices, brands, regions and the chain from their budgets, and where will their years end?
-- One row per level, member (office, brand, region or chain), month and measure. It covers the member's offices with a
-- budget of the measure in the year: other offices are in neither budget nor actual.
-- Read one level, through marts.chain_budget_vs_actual, brand_budget_vs_actual or region_budget_vs_actual, and never
-- add up two levels.
-- For the year, read one row per member and measure: the latest month with NOT is_open. It has the year to date and
-- the forecast.
-- Only budget and actual may be added up over months, and only over months with NOT is_open.
-- Key: level, member_id, month, measure
-- Columns:
--   level: office, brand, region or chain; never add up two levels
--   member_id: customer id of the office, or the brand or region. Null in two cases: for the chain; for an unknown
--     brand or region
--   member_name: name of the office, brand or region
--   month: first day of the month
--   measure: what is budgeted, as in marts.office_budget_vs_actual
--   budget: sum of the offices' budgets of the month; commission in SEK without VAT, as documented for setting budgets;
--     null without a budget
--   actual: amount that the offices with a budget in the year reached in the month; null if one of them is not known.
--     The currency of commission is not documented, and declared VAT is deducted: see basis_note
--   attainment_share: amount that the offices with a budget in the month reached, as a share of that budget. Null in
--     three cases: in an open month; if an office's actual is not known; without a budget
--   year_to_date_budget: budget from January to the month; already a sum, so never add it up over months
--   year_to_date_actual: amount reached from January to the month; null if an office's actual is not known in one of
--     these months; already a sum, so never add it up over months
--   year_to_date_attainment_share: amount that offices reached in months with a budget, as a share of
--     year_to_date_budget. Null in three cases: in an open month; if year_to_date_actual is null; without a budget so
--     far
--   year_budget: budget of the whole year, the same in each of its months, so never add it up over months
--   year_forecast: sum of the offices' forecasts. Null in two cases: open months; an office without a forecast
--   offices_without_forecast: names of the offices without a forecast. Null in two cases: if all have one; in an open
--     month
--   year_forecast_attainment_share: forecast of the months with a budget, all offices together, as a share of
--     year_budget; null if one office has no such forecast
--   office_count: offices that have a budget of the measure in the year
--   missing_office_count: offices whose actual in the month is not known
--   missing_offices: names of the offices whose actual in the month is not known; null if there is none
--   is_open: whether the month is not over yet, or still to come, for one of the offices
--   basis_note: what to note when commission is compared with its budget, because its tax basis is not documented. Null
--     in two cases: for counts; if both are declared to be without VAT
WITH offices_budgeted AS (
    SELECT DISTINCT
        coalesce(levels.level, 'chain') AS level,
        levels.member_id,
        levels.member_name,
        year(office_budgets.month) AS year,
        office_budgets.measure,
        office_id,
        office_budgets.office_name
    FROM marts.office_budget_vs_actual AS office_budgets
    LEFT JOIN marts.office_levels AS levels USING (office_id)
    WHERE office_budgets.budget_month_count > 0
),

months_budgeted AS (
    SELECT DISTINCT year(month) AS year, measure, month
    FROM marts.office_budget_vs_actual
    WHERE budget_month_count > 0
),

summed AS (
    SELECT
        offices.level,
        offices.member_id,
        offices.member_name,
        months.month,
        months.measure,
        sum(office_budgets.budget) AS budget,
        CASE WHEN count(office_budgets.actual) = count(*) THEN sum(office_budgets.actual) END AS actual,
        CASE
            WHEN count(office_budgets.actual) = count(*) THEN sum(office_budgets.actual) FILTER (office_budgets.budget IS NOT NULL)
        END AS actual_of_budgeted,
        count(*) AS office_count,
        count(*) - count(office_budgets.actual) AS missing_office_count,
        string_agg(
            coalesce(offices.office_name, offices.office_id), ', ' ORDER BY offices.office_name, offices.office_id
        ) FILTER (office_budgets.actual IS NULL) AS missing_offices,
        CASE WHEN count(office_budgets.year_forecast) = count(*) THEN sum(office_budgets.year_forecast) END AS year_forecast,
        string_agg(
            coalesce(offices.office_name, offices.office_id), ', ' ORDER BY offices.office_name, offices.office_id
        ) FILTER (office_budgets.year_forecast IS NULL) AS offices_without_forecast,
        CASE
            WHEN count(office_budgets.year_forecast_attainment_share) = count(*)
                THEN sum(office_budgets.year_forecast_attainment_share * office_budgets.year_budget)
        END AS forecast_of_budgeted,
        bool_or(office_budgets.is_open) AS is_open,
        any_value(office_budgets.basis_note) AS basis_note
    FROM months_budgeted AS months
    INNER JOIN offices_budgeted AS offices USING (year, measure)
    LEFT JOIN marts.office_budget_vs_actual AS office_budgets
        ON office_budgets.office_id = offices.office_id
        AND office_budgets.month = months.month
        AND office_budgets.measure = months.measure
    GROUP BY ALL
),

accumulated AS (
    SELECT
        *,
        count(actual) OVER so_far = month(month) AS is_known_so_far,
        sum(budget) OVER so_far AS budget_so_far,
        CASE WHEN is_known_so_far THEN sum(actual) OVER so_far END AS actual_so_far,
        CASE WHEN is_known_so_far THEN sum(actual_of_budgeted) OVER so_far END AS actual_of_budgeted_so_far,
        sum(budget) OVER (PARTITION BY level, member_id, measure, year(month)) AS year_budget
    FROM summed
    WINDOW so_far AS (PARTITION BY level, member_id, measure, year(month) ORDER BY month)
)

SELECT
    level,
    member_id,
    member_name,
    month,
    measure,
    budget::DECIMAL(18, 4) AS budget,
    actual::DECIMAL(18, 4) AS actual,
    (CASE WHEN NOT is_open THEN actual_of_budgeted / nullif(budget, 0) END)::DECIMAL(19, 8) AS attainment_share,
    budget_so_far::DECIMAL(18, 4) AS year_to_date_budget,
    actual_so_far::DECIMAL(18, 4) AS year_to_date_actual,
    (CASE WHEN NOT is_open THEN actual_of_budgeted_so_far / nullif(budget_so_far, 0) END)::DECIMAL(19, 8) AS year_to_date_attainment_share,
    year_budget::DECIMAL(18, 4) AS year_budget,
    year_forecast::DECIMAL(18, 4) AS year_forecast,
    CASE WHEN NOT is_open THEN offices_without_forecast END AS offices_without_forecast,
    (forecast_of_budgeted / nullif(year_budget, 0))::DECIMAL(19, 8) AS year_forecast_attainment_share,
    office_count,
    missing_office_count,
    missing_offices,
    is_open,
    basis_note
FROM accumulated
ORDER BY level, member_id, month, measure
