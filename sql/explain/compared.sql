-- What is the number in its months and the one before, beside the same month a year before?
-- One row per month of marts.office_month, user_month or chain_month, the latest first; of several months that are asked for
-- the first row is all of them (month_count), null where one of them is not known. The year before is null where one of the two
-- months is not held to its end, and while the later one is not over.
-- Parameters: kind, id, first_month, month, measure, report
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
),

paired AS (
    SELECT
        now.*,
        now.month < getvariable('first_month')::DATE AS is_earlier,
        before.number AS number_year_before,
        before.sold_estate_parts AS sold_estate_parts_year_before
    FROM lines AS now
    LEFT JOIN lines AS before
        ON before.month = now.month - INTERVAL 1 YEAR AND before.is_whole AND now.is_whole AND NOT now.is_open
    WHERE now.month BETWEEN getvariable('first_month')::DATE - INTERVAL 1 MONTH AND getvariable('month')::DATE
),

summed AS (
    SELECT
        max(month) AS month,
        count(*) AS month_count,
        bool_or(is_open) AS is_open,
        CASE WHEN count(COLUMNS('^number')) = count(*) THEN sum(COLUMNS('^number')) END,
        CASE WHEN is_of_commissions() AND count(COLUMNS('_parts|^sold_commission$|_total_price$')) = count(*)
            THEN sum(COLUMNS('_parts|^sold_commission$|_total_price$')) END,
        max(COLUMNS('^began_month|^closed_after_month|^missing_offices'))
    FROM paired
    GROUP BY GROUPING SETS ((month), (is_earlier))
    HAVING grouping(month) = 0 OR (NOT is_earlier AND count(*) > 1)
)

SELECT
    month,
    month_count,
    is_open,
    number,
    number_year_before,
    number - number_year_before AS difference,
    CASE
        WHEN regexp_matches(getvariable('measure'), '^(sold_average_|sold_)?commission(_per_active_agent)?$')
            AND basis.commission_vat = 'included'
            THEN without_vat(number, basis)
    END AS number_without_vat,
    sold_estate_parts AS homes,
    sold_estate_parts_year_before AS homes_year_before,
    (sold_total_price / nullif(sold_estate_parts, 0))::DECIMAL(18, 4) AS average_price,
    (100 * sold_commission / nullif(sold_total_price, 0))::DECIMAL(19, 8) AS sold_commission_percentage,
    sold_commission,
    writing_parts AS writings,
    valuation_parts AS valuations,
    began_month,
    closed_after_month,
    missing_offices
FROM summed
LEFT JOIN meta.tax_basis AS basis ON true
ORDER BY month_count DESC, month DESC
