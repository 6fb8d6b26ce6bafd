-- Which estates does the sales report have?
-- One row per requested customer, month and estate.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   estate_id: id of the estate
--   office_id: customer id of the office
--   month: first day of the month
--   load_id: the load it comes from; joins meta.loads
--   landed_row: row of bi.sales_estates by its column _row
--   contract_on: day of the sale contract
--   access_on: day of possession
--   deposit_reported_on: day the deposit was accounted for
--   commission_received_on: day the commission was received
--   changed_at: when the estate was last changed at the service, in local time
--   status: state of the sale, as the service words it
--   estate_type: kind of estate, as the service words it
--   assignment: kind of assignment, as the service words it
--   is_sale: whether the assignment is a sale, and not a valuation or an assignment without a sale
--   street_address: street address of the estate
--   zip_code: postal code of the estate
--   country_code: country code of the estate
--   latitude: latitude in decimal degrees
--   longitude: longitude in decimal degrees
--   starting_price: asking price; currency not documented
--   final_price: sale price; currency not documented
--   currency_code: code of the foreign currency; foreign properties only
--   currency_exchange_rate: exchange rate of that currency; foreign properties only
--   starting_price_foreign: asking price in the foreign currency; foreign properties only
--   final_price_foreign: sale price in the foreign currency; foreign properties only
--   commission_foreign: whole commission in the foreign currency; foreign properties only
--   intake_source: where the assignment came from, as the service words it
SELECT
    _customer AS customer_id,
    id AS estate_id,
    estate_number,
    office_customer_id AS office_id,
    _month AS month,
    _load_id AS load_id,
    _row AS landed_row,
    contract_day::DATE AS contract_on,
    access_day::DATE AS access_on,
    deposit_reported_at::DATE AS deposit_reported_on,
    commission_received_at::DATE AS commission_received_on,
    changed_at,
    status_text AS status,
    type_text AS estate_type,
    assignment_text AS assignment,
    is_sale(assignment_text) AS is_sale,
    intake_source_text AS intake_source,
    address_street_address AS street_address,
    address_zip_code AS zip_code,
    address_country_code AS country_code,
    wgs84_coordinate_latitud AS latitude,
    wgs84_coordinate_longitud AS longitude,
    is_new_home,
    starting_price,
    final_price,
    commission,
    commission_text,
    currency_code,
    currency_exchange_rate,
    starting_price_foreign,
    final_price_foreign,
    commission_foreign
FROM bi.sales_estates
