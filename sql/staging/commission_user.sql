-- What did each user earn in a month, according to the user report?
-- One row per requested customer, user and month. The report does not state the office.
-- The commission from sales alone is computed as in commission_office.
-- Kind: table
-- Columns:
--   customer_id: the requested customer, an office or a group
--   user_id: id of the user
--   month: first day of the month
--   load_id: the load it comes from; joins meta.loads
--   commission: commission from sales, valuations and writing assignments together, by share; currency and tax basis
--     not documented
--   sold_commission: commission from sales alone, by share, currency and tax basis as for commission; exact,
--     or computed from the average, with an error of at most half an öre per home
--   sold_total_price: prices of what was sold, by share; currency not documented
--   sold_estate_parts: homes sold; a home whose commission is shared counts in parts
--   writing_parts: writing assignments (contract only), in parts if shared
--   valuation_parts: valuations, in parts if shared
SELECT
    _totals._customer AS customer_id,
    _totals.user_id,
    _totals._month AS month,
    _totals._load_id AS load_id,
    sum(_totals.commission)::DECIMAL(18, 4) AS commission,
    sum(sold_commission(_totals, sales.commission))::DECIMAL(18, 4) AS sold_commission,
    sum(_totals.sold_total_price)::DECIMAL(18, 4) AS sold_total_price,
    sum(_totals.sold_estate_parts)::DECIMAL(19, 8) AS sold_estate_parts,
    sum(_totals.writing_parts)::DECIMAL(19, 8) AS writing_parts,
    sum(_totals.valuation_parts)::DECIMAL(19, 8) AS valuation_parts
FROM bi.commission_user AS _totals
LEFT JOIN bi.commission_user_sale AS sales
    ON sales._customer = _totals._customer
    AND sales._month = _totals._month
    AND sales.user_id = _totals.user_id
WHERE _totals.user_id IS NOT NULL
GROUP BY ALL
