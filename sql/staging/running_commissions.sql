-- Which commissions were earned in steps, in SEK?
-- One row per event. Events have no id, and two equal events can both be real, so none is dropped.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   office_id: customer id of the office; if the row names none, the requested office, or the only office that the
--     customer answers for
--   user_id: id of the user
--   estate_id: id of the estate, or of the project, that earned it
--   month: first day of the month
--   load_id: the load it comes from; joins meta.loads
--   obtained_on: day it was earned
--   amount_sek_excl_vat: amount without VAT, already split, turned into SEK at the service's own rate; never
--     add it to commission: it is not documented whether one contains the other
--   has_rate: whether the service sent an exchange rate above zero; without one the amount in SEK is unknown
SELECT
    event._customer AS customer_id,
    coalesce(id_or_null(event.customer_id), own_offices.office_id) AS office_id,
    user_id,
    estate_id,
    _month AS month,
    _load_id AS load_id,
    obtained_at::DATE AS obtained_on,
    CASE
        WHEN amount = 0 THEN 0
        WHEN exchange_rate > 0 THEN round(amount::DECIMAL(28, 4) * exchange_rate, 4)
    END::DECIMAL(18, 4) AS amount_sek_excl_vat,
    coalesce(exchange_rate > 0, false) AS has_rate
FROM bi.running_commissions AS event
LEFT JOIN staging.offices_asked AS own_offices ON own_offices.customer_id = event._customer
