-- Which trademarks do the offices trade under?
-- One row per requested customer, current trademark and office.
-- An office may be named by its number, with any prefix or none.
-- An answer that names no office is taken for all offices of the customer if it has only one trademark or the
-- customer is an office.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   office_id: customer id of the office; null if the answer names none
--   trademark: name of the trademark
--   is_refreshed: whether this customer is still requested; if not, its trademarks stay as they were last read
WITH named AS (
    SELECT
        _row AS landed_row,
        _customer AS asked_id,
        nullif(trim(trademark), '') AS trademark,
        count(*) OVER (PARTITION BY _customer) AS trademark_count
    FROM bi.trademarks_history
    WHERE valid_to_utc IS NULL
),

listed AS (
    SELECT DISTINCT _parent_row AS landed_row, trim(office_id) AS office_id
    FROM bi.trademark_offices_history
    WHERE valid_to_utc IS NULL AND trim(office_id) <> ''
),

of_offices AS (
    SELECT
        named.asked_id, named.trademark, coalesce(numbered.office_id, listed.office_id, offices.office_id) AS office_id
    FROM named
    LEFT JOIN listed USING (landed_row)
    LEFT JOIN staging.office_numbers AS numbered ON numbered.number = office_number(listed.office_id)
    LEFT JOIN staging.customer_offices AS offices
        ON listed.office_id IS NULL
        AND offices.customer_id = named.asked_id
        AND (named.trademark_count = 1 OR offices.office_id = named.asked_id)
)

SELECT DISTINCT
    of_offices.asked_id AS customer_id,
    of_offices.office_id,
    of_offices.trademark,
    coalesce(customers.is_active, true) AND denied.denied_at_utc IS NULL AS is_refreshed
FROM of_offices
LEFT JOIN meta.customers AS customers ON customers.customer = of_offices.asked_id
LEFT JOIN meta.access AS denied ON denied.report = 'trademarks' AND denied.customer = of_offices.asked_id
