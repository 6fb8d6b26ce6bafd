-- Which trademarks do the offices trade under?
-- One row per requested customer, current trademark and office.
-- An office may be named by its number, with any prefix or none.
-- A trademark that names no office counts for all offices of the customer if it is the customer's only one. If the
-- customer is itself an office, it counts for that office in any case.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   office_id: customer id of the office; null if the answer names none
--   trademark: name of the trademark
--   is_refreshed: whether this customer is still requested; if not, its trademarks stay as they were last read
WITH current_trademarks AS (
    SELECT
        _row AS landed_row,
        _customer AS customer_id,
        nullif(trim(trademark), '') AS trademark,
        count(*) OVER (PARTITION BY _customer) AS trademark_count
    FROM bi.trademarks_history
    WHERE valid_to_utc IS NULL
),

listed_offices AS (
    SELECT DISTINCT _parent_row AS landed_row, trim(office_id) AS office_id
    FROM bi.trademark_offices_history
    WHERE valid_to_utc IS NULL AND trim(office_id) <> ''
),

office_trademarks AS (
    SELECT
        trademarks.customer_id, trademarks.trademark, coalesce(office_numbers.office_id, listed_offices.office_id, offices.office_id) AS office_id
    FROM current_trademarks AS trademarks
    LEFT JOIN listed_offices USING (landed_row)
    LEFT JOIN staging.office_numbers AS office_numbers ON office_numbers.number = office_number(listed_offices.office_id)
    LEFT JOIN staging.customer_offices AS offices
        ON listed_offices.office_id IS NULL
        AND offices.customer_id = trademarks.customer_id
        AND (trademarks.trademark_count = 1 OR offices.office_id = trademarks.customer_id)
)

SELECT DISTINCT
    office_trademarks.customer_id,
    office_trademarks.office_id,
    office_trademarks.trademark,
    coalesce(customers.is_active, true) AND denials.denied_at_utc IS NULL AS is_refreshed
FROM office_trademarks
LEFT JOIN meta.customers AS customers ON customers.customer = office_trademarks.customer_id
LEFT JOIN meta.access AS denials ON denials.report = 'trademarks' AND denials.customer = office_trademarks.customer_id
