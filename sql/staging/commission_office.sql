-- What did each office earn in a month, according to the office report?
-- One row per requested customer, office and month.
-- Averages and percentages cannot be added, so the commission from sales alone is computed here:
-- 1. If there was no writing assignment and no valuation, it is the whole commission.
-- 2. Otherwise, if the report of sales alone is loaded (it is off by default), it is the commission in that report.
-- 3. Otherwise it is the service's average times sold_estate_parts.
-- If a row names its office only by the old number (101 for M101), the office is the requested customer, if that has
-- the number. Otherwise it is the only known office with the number. If no known office has the number, the number
-- stays as office_id. If several have it, the office is unknown, and the month lacks rows in staging.months.
-- Kind: table
-- Columns:
--   customer_id: the requested customer, an office or a group
--   office_id: customer id of the office; null if several have the number that names it
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
WITH known_offices AS (
    SELECT _customer AS office_id FROM bi.commission_office
    UNION
    SELECT office_customer_id FROM bi.commission_office
    UNION
    SELECT office_customer_id FROM bi.sales_estates
),

offices_by_number AS (
    SELECT office_number(office_id) AS number, list(office_id) AS office_ids
    FROM known_offices
    WHERE regexp_full_match(office_id, '[A-Z]+[0-9]+')
    GROUP BY ALL
),

office_rows AS (
    SELECT
        _customer, _month, _load_id, coalesce(office_customer_id, customer_id::VARCHAR) AS named_id, commission,
        sold_total_price, sold_estate_parts, sold_average_commission, writing_parts, valuation_parts
    FROM bi.commission_office
),

rows_with_office AS (
    SELECT
        office_rows.*,
        CASE
            WHEN office_number(office_rows._customer) = office_rows.named_id THEN office_rows._customer
            WHEN len(offices_by_number.office_ids) = 1 THEN offices_by_number.office_ids[1]
            WHEN offices_by_number.office_ids IS NULL THEN office_rows.named_id
        END AS office_id
    FROM office_rows
    LEFT JOIN offices_by_number ON offices_by_number.number = office_rows.named_id
)

SELECT
    _totals._customer AS customer_id,
    _totals.office_id,
    _totals._month AS month,
    _totals._load_id AS load_id,
    sum(_totals.commission)::DECIMAL(18, 4) AS commission,
    sum(sold_commission(_totals, sales.commission))::DECIMAL(18, 4) AS sold_commission,
    sum(_totals.sold_total_price)::DECIMAL(18, 4) AS sold_total_price,
    sum(_totals.sold_estate_parts)::DECIMAL(19, 8) AS sold_estate_parts,
    sum(_totals.writing_parts)::DECIMAL(19, 8) AS writing_parts,
    sum(_totals.valuation_parts)::DECIMAL(19, 8) AS valuation_parts
FROM rows_with_office AS _totals
LEFT JOIN bi.commission_office_sale AS sales
    ON sales._customer = _totals._customer
    AND sales._month = _totals._month
    AND coalesce(sales.office_customer_id, sales.customer_id::VARCHAR) = _totals.named_id
GROUP BY ALL
