-- Which estates were entered, and when?
-- One row per customer asked, month and estate of the report of estates by the day they were entered.
-- Columns:
--   customer_id: the customer that was asked, an office or a group
--   office_id: customer id of the office
--   month: first day of the month
--   estate_id: id of the estate
SELECT DISTINCT
    _customer AS customer_id,
    office_customer_id AS office_id,
    _month AS month,
    id AS estate_id
FROM bi.estates_by_creation_estates
