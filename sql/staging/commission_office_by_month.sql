-- What did each office earn in a month, as the by-month report says, as far as its shape can be assumed?
-- One row per customer asked, office and month; a month without activity may be missing.
-- Nobody has documented these rows: assumed are offices with a list of years, and years with a list of months.
-- Columns:
--   customer_id VARCHAR: the customer that was asked, an office or a group
--   office_id VARCHAR: customer id of the office
--   month DATE: first day of the month
--   load_id VARCHAR: the load it comes from; joins meta.loads
--   commission DECIMAL(18, 4): commission for sales, valuations and writings together, by share; currency and
--     tax basis not documented
--   sold_total_price DECIMAL(18, 4): prices of what was sold, by share; currency not documented
--   sold_estate_parts DECIMAL(19, 8): homes sold; a home whose commission is shared counts in parts
-- Expects:
--   bi.commission_office_by_month: office_customer_id, month, commission, sold_total_price, sold_estate_parts
SELECT
    _customer AS customer_id,
    office_customer_id AS office_id,
    _month AS month,
    _load_id AS load_id,
    sum(TRY_CAST(commission AS DECIMAL(18, 4)))::DECIMAL(18, 4) AS commission,
    sum(TRY_CAST(sold_total_price AS DECIMAL(18, 4)))::DECIMAL(18, 4) AS sold_total_price,
    sum(TRY_CAST(sold_estate_parts AS DECIMAL(19, 8)))::DECIMAL(19, 8) AS sold_estate_parts
FROM bi.commission_office_by_month
GROUP BY ALL
