-- Which commissions were earned in steps?
-- One row per event, counted once even if two customers answer with it. Two equal events can both be real.
-- An event that names no office belongs to the requested customer if that is an office, else to the customer's only
-- office.
-- Events of offices that are unknown, or that no configured customer answers for, are left out, and a check names
-- them.
-- Do not add them to the commission of offices, users or sales. It is not documented whether one contains the other,
-- so a sum may count the same money twice.
-- Columns:
--   month: first day of the month the commission was earned in
--   office_id: customer id of the office
SELECT
    running.month,
    running.obtained_on,
    running.office_id,
    offices.office_name,
    running.user_id,
    running.estate_id,
    running.amount_sek_excl_vat,
    running.has_rate,
    running.customer_id AS _customer,
    running.month AS _month,
    running.load_id AS _load_id
FROM staging.running_commissions AS running
SEMI JOIN (FROM marts.office_sources WHERE report = 'running_commissions') USING (office_id, month, customer_id)
LEFT JOIN marts.offices AS offices ON offices.office_id = running.office_id
ORDER BY year(running.month), running.office_id, running.month, running.obtained_on
