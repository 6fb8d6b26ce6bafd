-- A table of dates: which days, months, quarters and years are there?
-- One row per day, for a BI tool that needs a table of dates.
-- The first day is the start of the first month that is loaded for any office or has a budget. The last day is the end
-- of the year of the last such month.
-- Monthly facts have the first day of their month, so both monthly and daily facts join on day.
-- Kind: view
-- Key: day
-- Columns:
--   day: the day
--   month: first day of the month of the day
--   month_number: number of the month, 1 to 12
--   year_month: the month as text, 2026-03
--   quarter: first day of the quarter of the day
--   quarter_number: number of the quarter, 1 to 4
--   year: year of the day
--   iso_year: year of the day's week, by ISO 8601
--   iso_week: number of the day's week, by ISO 8601
--   weekday_number: 1 for Monday to 7 for Sunday
--   is_month_over: whether the month of the day is over for every loaded office
WITH span AS (
    SELECT
        min(month) AS first_month,
        make_date(year(max(month)), 12, 31) AS last_day,
        max(month) FILTER (is_over) AS last_over
    FROM (
        SELECT month, is_last_over AS is_over FROM marts.chain_month
        UNION ALL
        SELECT month, false FROM marts.budgets WHERE valid_to_utc IS NULL
    )
)

SELECT
    day,
    date_trunc('month', day)::DATE AS month,
    month(day)::INTEGER AS month_number,
    strftime(day, '%Y-%m') AS year_month,
    date_trunc('quarter', day)::DATE AS quarter,
    quarter(day)::INTEGER AS quarter_number,
    year(day)::INTEGER AS year,
    isoyear(day)::INTEGER AS iso_year,
    week(day)::INTEGER AS iso_week,
    isodow(day)::INTEGER AS weekday_number,
    coalesce(date_trunc('month', day) <= last_over, false) AS is_month_over
FROM (SELECT unnest(generate_series(first_month, last_day, INTERVAL 1 DAY))::DATE AS day, last_over FROM span)
ORDER BY day
