-- What did each office earn in a month, as the by-month report states it?
-- One row per requested customer, office and month. A month without activity may be missing.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   office_id: customer id of the office
--   month: first day of the month
--   load_id: the load it comes from; joins meta.loads
--   commission: commission from sales, valuations and writing assignments together; currency and tax basis not
--     documented
--   sold_total_price: prices of what was sold, by share; currency not documented
--   sold_estate_parts: homes sold; a home whose commission is shared counts in parts
SELECT
    _customer AS customer_id,
    office_id,
    _month AS month,
    _load_id AS load_id,
    sum(commission)::DECIMAL(18, 4) AS commission,
    sum(sold_total_price)::DECIMAL(18, 4) AS sold_total_price,
    sum(sold_estate_parts)::DECIMAL(19, 8) AS sold_estate_parts
FROM bi.commission_office_by_month
GROUP BY ALL
