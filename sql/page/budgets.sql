-- What was each office to reach in a month, and what did it reach?
-- One row per office, month and measure; budgets of users are within those of their office. The budget of a year is
-- null unless every month of it has one: the forecast is of all twelve, and that of today on each row of a year: of the latest
-- month of the office that is over. Vat says what to mind where commission is compared
-- with a budget without VAT: it may have VAT in it (unknown), or is shown less its declared VAT (included).
SELECT
    month,
    office_id,
    measure,
    budget,
    actual,
    CASE WHEN budget_month_count = 12 THEN year_budget END AS year_budget,
    arg_max_null(year_forecast, month) FILTER (NOT is_open) OVER (PARTITION BY office_id, measure, year(month)) AS year_forecast,
    CASE WHEN starts_with(basis_note, 'commission less') THEN 'included' WHEN basis_note IS NOT NULL THEN 'unknown' END AS vat
FROM marts.office_budget_vs_actual
WHERE measure IN ('commission', 'sold estates')
ORDER BY office_id, month
