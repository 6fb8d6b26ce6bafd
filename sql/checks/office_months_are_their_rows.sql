-- Does a published office-month differ from the rows that it comes from?
-- One row per office and month whose commission, price, homes, writings or valuations are not the sums of its rows in
-- bi.commission_office, which are counted here without sql/staging. An old number belongs to the office that was asked, or to the
-- only office that has it.
-- Severity: warning
-- Concerns: commission
WITH old_numbers AS (
    SELECT ltrim(office_id, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') AS old_number, count(*) AS office_count FROM marts.offices GROUP BY ALL
),

answered AS (
    SELECT *, coalesce(office_customer_id, customer_id::VARCHAR) AS named_id FROM bi.commission_office
)

SELECT
    months.month,
    months.office_id,
    coalesce(any_value(months.commission), 0) - coalesce(sum(answered.commission), 0) AS commission_difference,
    coalesce(any_value(months.sold_total_price), 0) - coalesce(sum(answered.sold_total_price), 0) AS price_difference,
    coalesce(any_value(months.sold_estate_parts), 0) - coalesce(sum(answered.sold_estate_parts), 0) AS estate_parts_difference,
    coalesce(any_value(months.writing_parts), 0) - coalesce(sum(answered.writing_parts), 0) AS writing_parts_difference,
    coalesce(any_value(months.valuation_parts), 0) - coalesce(sum(answered.valuation_parts), 0) AS valuation_parts_difference
FROM marts.office_month AS months
LEFT JOIN old_numbers ON old_numbers.old_number = ltrim(months.office_id, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
LEFT JOIN answered
    ON answered._load_id = months._load_id
    AND answered._month = months.month
    AND (
        answered.named_id = months.office_id
        OR (answered.named_id = old_numbers.old_number AND (old_numbers.office_count = 1 OR months._customer = months.office_id))
    )
GROUP BY months.month, months.office_id
HAVING (commission_difference, price_difference, estate_parts_difference, writing_parts_difference, valuation_parts_difference)
    <> (0, 0, 0, 0, 0)
ORDER BY months.month DESC, months.office_id
