-- Every total that a user had in a month of marts.user_month, as builds of the marts found it.
-- Columns:
--   user_id: id of the user
--   month: first day of the month
--   version: 1 for the first total, 2 for the next
--   noted_at_utc: time of the newest answer on users in the file when this total was found
--   is_present: whether marts.user_month had the user and month; false once it no longer had them
--   commission: commission from sales, valuations and writing assignments together; currency and tax basis are not
--     documented
--   sold_commission: commission from sales alone; currency and tax basis are not documented
--   sold_total_price: prices of the homes sold, by share; their currency is not documented
--   sold_estate_parts: homes sold, in parts if shared
--   running_commission_sek_excl_vat: commissions earned in steps, without VAT, in SEK
--   writing_parts: writings, in parts if shared; null in versions from before they were stored
--   valuation_parts: valuations, in parts if shared; null in versions from before they were stored
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
