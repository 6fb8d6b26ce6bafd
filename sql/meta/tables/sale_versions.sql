-- Every state that a sale has had in marts.sales, as builds of the marts found it.
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
COMMENT ON TABLE meta.sale_versions IS
    'Every state that a sale has had in marts.sales, as builds of the marts found it.';
COMMENT ON COLUMN meta.sale_versions.estate_id IS 'id of the estate';
COMMENT ON COLUMN meta.sale_versions.version IS '1 for the first state, 2 for the next';
COMMENT ON COLUMN meta.sale_versions.noted_at_utc IS
    'when the service gave the newest answer that was in the file as this state was found';
COMMENT ON COLUMN meta.sale_versions.is_present IS
    'whether the sale was listed; false where its month was held and no longer had it';
COMMENT ON COLUMN meta.sale_versions.estate_number IS 'number of the estate used by the office';
COMMENT ON COLUMN meta.sale_versions.office_id IS 'customer id of the listing office';
COMMENT ON COLUMN meta.sale_versions.month IS 'first day of the month of the contract';
COMMENT ON COLUMN meta.sale_versions.contract_on IS 'day of the sale contract';
COMMENT ON COLUMN meta.sale_versions.commission IS
    'whole commission, all agents together; currency and tax basis are not documented';
COMMENT ON COLUMN meta.sale_versions.final_price IS 'sale price; its currency is not documented';
COMMENT ON COLUMN meta.sale_versions.was_over IS
    'whether that month had been read before, and was over then';
COMMENT ON COLUMN meta.sale_versions.left_was_over IS
    'the same of the month and office that the sale left; null where it left none';
COMMENT ON COLUMN meta.sale_versions.customer_id IS 'the customer whose answer counted';
COMMENT ON COLUMN meta.sale_versions.load_id IS 'the load that showed this state; joins meta.loads';
COMMENT ON COLUMN meta.sale_versions.street_address IS
    'street address of the estate, as last read; null in what was found before it was kept';
COMMENT ON COLUMN meta.sale_versions.agent_ids IS
    'ids of the users who share the commission, the responsible one first; as last read, null as street_address';
