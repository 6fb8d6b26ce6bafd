-- Every state that a sale has had in marts.sales, as builds of the marts found it.
-- Columns:
--   estate_id: id of the estate
--   version: 1 for the first state, 2 for the next
--   noted_at_utc: time of the newest answer in the file when this state was found
--   is_present: whether the sale was listed; false if its month was loaded and no longer had it
--   estate_number: number of the estate used by the office
--   office_id: customer id of the listing office
--   month: first day of the month of the contract
--   contract_on: day of the sale contract
--   commission: whole commission, all agents together; currency and tax basis are not documented
--   final_price: sale price; its currency is not documented
--   was_over: whether the month of the contract had been read before, and was over then
--   left_was_over: was_over of the month and office that the sale left; null if it left none
--   customer_id: the customer whose answer counted
--   load_id: the load that showed this state; joins meta.loads
--   street_address: street address of the estate, as last read; null in versions from before it was stored
--   agent_ids: ids of the users who share the commission, the responsible one first; as last read, null like
--     street_address
CREATE TABLE IF NOT EXISTS meta.sale_versions (
    estate_id VARCHAR,
    version BIGINT,
    noted_at_utc TIMESTAMP,
    is_present BOOLEAN,
    estate_number VARCHAR,
    office_id VARCHAR,
    month DATE,
    contract_on DATE,
    commission DECIMAL(18, 4),
    final_price DECIMAL(18, 4),
    was_over BOOLEAN,
    left_was_over BOOLEAN,
    customer_id VARCHAR,
    load_id VARCHAR,
    street_address VARCHAR,
    agent_ids VARCHAR[]
);
