-- Which estates were entered, and when?
-- One row per requested customer, month and estate of the report estates_by_creation.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   office_id: customer id of the office
--   month: first day of the month
--   estate_id: id of the estate
--   is_unsold: whether none of its rows has a day of contract
SELECT
    _customer AS customer_id,
    office_customer_id AS office_id,
    _month AS month,
    id AS estate_id,
    bool_and(contract_day IS NULL) AS is_unsold
FROM bi.estates_by_creation_estates
GROUP BY ALL
