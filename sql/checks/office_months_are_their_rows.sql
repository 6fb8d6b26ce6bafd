-- Does a published office-month differ from the rows that it comes from?
-- One row per office and month whose commission, price, homes, writings or valuations are not the sums of its rows in
-- bi.commission_office, counted here without sql/staging. A row with an old office number belongs to the requested
-- office, or to the only office with that number.
-- Severity: warning
-- Concerns: commission
WITH offices_by_number AS (
    SELECT
        *,
        ltrim(office_id, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') AS old_number,
        count(*) OVER (PARTITION BY old_number) = 1 AS is_only_one
    FROM marts.offices
),

named_months AS (
    SELECT
        months.*,
        unnest(list_distinct([
            months.office_id,
            CASE WHEN offices_by_number.is_only_one OR months._customer = months.office_id THEN offices_by_number.old_number END
        ])) AS named_id
    FROM marts.office_month AS months
    LEFT JOIN offices_by_number ON offices_by_number.office_id = months.office_id
)

SELECT
    named_months.month,
    named_months.office_id,
    coalesce(any_value(named_months.commission), 0) - coalesce(sum(answered.commission), 0) AS commission_difference,
    coalesce(any_value(named_months.sold_total_price), 0) - coalesce(sum(answered.sold_total_price), 0) AS price_difference,
    coalesce(any_value(named_months.sold_estate_parts), 0) - coalesce(sum(answered.sold_estate_parts), 0) AS estate_parts_difference,
    coalesce(any_value(named_months.writing_parts), 0) - coalesce(sum(answered.writing_parts), 0) AS writing_parts_difference,
    coalesce(any_value(named_months.valuation_parts), 0) - coalesce(sum(answered.valuation_parts), 0) AS valuation_parts_difference
FROM named_months
LEFT JOIN bi.commission_office AS answered
    ON answered._load_id = named_months._load_id
    AND answered._month = named_months.month
    AND coalesce(answered.office_customer_id, answered.customer_id::VARCHAR) = named_months.named_id
GROUP BY named_months.month, named_months.office_id
HAVING (commission_difference, price_difference, estate_parts_difference, writing_parts_difference, valuation_parts_difference)
    <> (0, 0, 0, 0, 0)
ORDER BY named_months.month DESC, named_months.office_id
