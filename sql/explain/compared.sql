-- What is the number in its month and the previous one, compared with the same months a year before?
-- One row per month of marts.office_month, user_month or chain_month, the latest first.
-- The year before is null while the later month is not over. For a number of a commission report, it is also null if
-- one of the two months is not loaded to its end.
-- Parameters: kind, id, month, measure, report
WITH lines AS (
    SELECT
        *,
        (to_json(line) ->> getvariable('measure')::VARCHAR)::DECIMAL(28, 8) AS number,
        is_commission_complete OR NOT is_of_commissions() AS is_whole
    FROM (
        FROM marts.office_month WHERE getvariable('kind') = 'office' AND office_id = getvariable('id')
        UNION ALL BY NAME
        FROM marts.user_month WHERE getvariable('kind') = 'user' AND user_id = getvariable('id')
        UNION ALL BY NAME
        FROM marts.chain_month WHERE getvariable('kind') = 'chain'
    ) AS line
    WHERE NOT starts_with(getvariable('measure'), 'budget_')
)

SELECT
    now.month,
    now.is_open,
    now.number,
    before.number AS number_year_before,
    now.number - before.number AS difference,
    CASE
        WHEN regexp_matches(getvariable('measure'), '^(sold_average_|sold_)?commission(_per_active_agent)?$')
            AND basis.commission_vat = 'included'
            THEN without_vat(now.number, basis)
    END AS number_without_vat,
    now.sold_estate_parts AS homes,
    before.sold_estate_parts AS homes_year_before,
    now.average_price,
    now.sold_commission_percentage,
    now.sold_commission,
    now.writing_parts AS writings,
    now.valuation_parts AS valuations,
    now.began_month,
    now.closed_after_month,
    now.missing_offices
FROM lines AS now
LEFT JOIN lines AS before
    ON before.month = now.month - INTERVAL 1 YEAR AND before.is_whole AND now.is_whole AND NOT now.is_open
LEFT JOIN meta.tax_basis AS basis ON true
WHERE now.month BETWEEN getvariable('month')::DATE - INTERVAL 1 MONTH AND getvariable('month')::DATE
ORDER BY now.month DESC
