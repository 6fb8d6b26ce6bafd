-- Every total that a user had in a month of marts.user_month, as builds of the marts found it.
CREATE TABLE IF NOT EXISTS meta.user_month_versions (
    user_id VARCHAR,
    month DATE,
    version BIGINT,
    noted_at_utc TIMESTAMP,
    is_present BOOLEAN,
    commission DECIMAL(18, 4),
    sold_commission DECIMAL(18, 4),
    sold_total_price DECIMAL(18, 4),
    sold_estate_parts DECIMAL(18, 8),
    running_commission_sek_excl_vat DECIMAL(18, 4),
    writing_parts DECIMAL(18, 8),
    valuation_parts DECIMAL(18, 8)
);
COMMENT ON TABLE meta.user_month_versions IS
    'Every total that a user had in a month of marts.user_month, as builds of the marts found it.';
COMMENT ON COLUMN meta.user_month_versions.user_id IS 'id of the user';
COMMENT ON COLUMN meta.user_month_versions.month IS 'first day of the month';
COMMENT ON COLUMN meta.user_month_versions.version IS '1 for the first total, 2 for the next';
COMMENT ON COLUMN meta.user_month_versions.noted_at_utc IS
    'when the service gave the newest answer on users that was in the file as this total was found';
COMMENT ON COLUMN meta.user_month_versions.is_present IS
    'whether marts.user_month had the user and month; false where it no longer had';
COMMENT ON COLUMN meta.user_month_versions.commission IS
    'commission for sales, valuations and writings together; currency and tax basis are not documented';
COMMENT ON COLUMN meta.user_month_versions.sold_commission IS
    'commission of sales alone; currency and tax basis are not documented';
COMMENT ON COLUMN meta.user_month_versions.sold_total_price IS
    'prices of the homes sold, by share; their currency is not documented';
COMMENT ON COLUMN meta.user_month_versions.sold_estate_parts IS 'homes sold, in parts where shared';
COMMENT ON COLUMN meta.user_month_versions.running_commission_sek_excl_vat IS
    'commissions earned in steps, without VAT, in SEK';
COMMENT ON COLUMN meta.user_month_versions.writing_parts IS
    'writings, in parts where shared; null in what was found before they were kept';
COMMENT ON COLUMN meta.user_month_versions.valuation_parts IS
    'valuations, in parts where shared; null in what was found before they were kept';
