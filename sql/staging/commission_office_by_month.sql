-- What did each office earn in a month, as the by-month report says, as far as its shape can be assumed?
-- One row per customer asked, office and month; a month without activity may be missing.
-- Nobody has documented these rows: assumed are an office, in the row or one around it, and amounts that are called as in
-- the report of offices, in one list somewhere below.
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
--   bi.commission_office_by_month and below: customer_id|office_customer_id|office_id, commission, sold_total_price,
--     sold_estate_parts
SELECT
    given._customer AS customer_id,
    coalesce(given._said ->> 'customer_id', given._said ->> 'office_customer_id', given._said ->> 'office_id') AS office_id,
    given._month AS month,
    given._load_id AS load_id,
    sum(TRY_CAST(given._said ->> 'commission' AS DECIMAL(18, 4)))::DECIMAL(18, 4) AS commission,
    sum(TRY_CAST(given._said ->> 'sold_total_price' AS DECIMAL(18, 4)))::DECIMAL(18, 4) AS sold_total_price,
    sum(TRY_CAST(given._said ->> 'sold_estate_parts' AS DECIMAL(19, 8)))::DECIMAL(19, 8) AS sold_estate_parts
FROM (SELECT *, to_json(_given) AS _said FROM bi.commission_office_by_month AS _given) AS given
GROUP BY ALL
