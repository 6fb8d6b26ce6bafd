-- Which offices will reach their commission budget this year?
-- One row per office, seen from the latest month that is over.
--
-- The forecast assumes that the rest of the budget will be reached as well as the budget so far was, and that months
-- without a budget will be like the average month so far. Percents compare the months that have a budget, of which
-- there should be twelve. what_to_mind says so where the service leaves open whether commission has VAT in it: the
-- budget has none. With BROKERBI_COMMISSION_VAT declared both are without.
SELECT
    office_name,
    year_to_date_actual AS commission_so_far,
    round(100 * year_to_date_attainment_share, 1) AS percent_of_budget_so_far,
    year_budget,
    budget_month_count AS months_with_a_budget,
    round(year_forecast, 0) AS year_forecast,
    round(100 * year_forecast_attainment_share, 1) AS percent_of_year_budget,
    basis_note AS what_to_mind
FROM marts.office_budget_vs_actual
WHERE measure = 'commission'
    AND month = (SELECT max(month) FROM marts.office_budget_vs_actual WHERE NOT is_open)
ORDER BY percent_of_year_budget;
