-- Which sales are left out because another home has their estate id?
-- One row per sale that is left out of marts.sales, because another sale with the same estate id counts there.
-- The two sales are at different offices, have different days of contract, and have neither the same price nor the
-- same address.
-- An estate id is assumed to identify the same home for every customer: a group and its office report a sale under one
-- id. A sale that only moved to another office, or was restated, keeps its address or its day of contract.
-- If customers number their homes separately, two sales may share an id. Then marts.sales keeps one of them, by the
-- rule in the description of its column office_id.
-- For each: FROM parts_of((SELECT count(*) FROM staging.sales_estates))
-- Key: _row
-- Columns:
--   estate_id: id of the estate
--   office_id: customer id of the office that lists the sale left out
--   month: first day of the month of the contract
--   contract_on: day of the contract of the sale left out
--   street_address: street address of the home of the sale left out
--   final_price: price of the sale left out; currency not documented
--   commission: whole commission of the sale left out; currency not documented, tax basis as declared in
--     marts.tax_basis
--   counted_office_id: customer id of the office that lists the counted sale, which has the same id in marts.sales
--   counted_month: first day of the month of the contract of the counted sale
--   counted_contract_on: day of the contract of the counted sale
--   counted_street_address: street address of the home of the counted sale
--   counted_final_price: price of the counted sale; currency not documented
--   _customer: the customer whose answer the row comes from
--   _month: first day of the month of that answer
--   _load_id: the load of that answer; joins meta.loads
--   _row: row of bi.sales_estates
SELECT
    estates.estate_id,
    estates.office_id,
    estates.month,
    estates.contract_on,
    estates.street_address,
    estates.final_price,
    estates.commission,
    counted.office_id AS counted_office_id,
    counted.month AS counted_month,
    counted.contract_on AS counted_contract_on,
    counted.street_address AS counted_street_address,
    counted.final_price AS counted_final_price,
    estates.customer_id AS _customer,
    estates.month AS _month,
    estates.load_id AS _load_id,
    estates.landed_row AS _row
FROM staging.sales_estates AS estates
SEMI JOIN (FROM marts.office_sources WHERE report = 'sales') USING (office_id, month, customer_id)
INNER JOIN marts.sales AS counted
    ON counted.estate_id = estates.estate_id
    AND counted.office_id <> estates.office_id
    AND counted.contract_on <> estates.contract_on
WHERE is_of_part(estates.estate_id)
    AND estates.is_sale
    AND coalesce(counted.final_price <> estates.final_price, true)
    AND coalesce(lower(trim(counted.street_address)) <> lower(trim(estates.street_address)), true)
    AND (counted.final_price <> estates.final_price OR counted.street_address <> estates.street_address)
ORDER BY estates.month, estates.office_id, estates.estate_id
