-- Which offices will reach their commission budget this year?
-- One row per office with a budget, for its latest month that is over, or the last month of the variable year.
-- Analysis 12 says why an office is missing.
--
-- The forecast is the commission signed so far, including the current month, plus the budget of the rest of the year
-- at the rate reached in the months that are over. A month without a budget counts as the average of those months.
-- The sums so far cover the months that are over. The difference and percents compare only months with a budget: a
-- year should have twelve.
-- what_to_mind says so if a year has fewer. It warns if it is unknown whether commission includes VAT, which budgets
-- exclude. Once BROKERBI_COMMISSION_VAT is declared, both are without VAT.
-- Parameters: year, office
SELECT
    office_name,
    year_to_date_actual AS commission_so_far,
    year_to_date_budget AS budget_so_far,
    CASE
        WHEN year_to_date_attainment_share IS NOT NULL
            THEN (sum(actual - budget) OVER (PARTITION BY office_id ORDER BY month))::DECIMAL(18, 4)
    END AS difference_from_budget,
    round(100 * year_to_date_attainment_share, 1) AS percent_of_budget_so_far,
    year_budget,
    budget_month_count AS months_with_a_budget,
    round(year_forecast, 0) AS year_forecast,
    round(100 * year_forecast_attainment_share, 1) AS percent_of_year_budget,
    concat_ws(
        '; ',
        coalesce(basis_note, 'commission and its budget are without VAT'),
        CASE WHEN budget_month_count < 12 THEN 'difference and percents cover only the months with a budget' END,
        'closed after ' || strftime(closed_after_month, '%Y-%m')
    ) AS what_to_mind
FROM marts.office_budget_vs_actual
LEFT JOIN (SELECT office_id, closed_after_month FROM marts.dim_office) AS offices USING (office_id)
WHERE measure = 'commission'
    AND NOT is_open
    AND year(month) = coalesce(
        getvariable('year'), (SELECT max(year(month)) FROM marts.office_budget_vs_actual WHERE NOT is_open)
    )
    AND office_id = coalesce(getvariable('office'), office_id)
QUALIFY row_number() OVER (PARTITION BY office_id ORDER BY month DESC) = 1
ORDER BY percent_of_year_budget;
