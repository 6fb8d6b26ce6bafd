-- In which month is commission paid, and how much has been received?
-- One row per office, month of possession and state.
-- Commission is paid at possession, so future months show expected payments.
-- All numbers add up.
-- Kind: view
-- Key: access_month, office_id, state
-- Columns:
--   access_month: first day of the month of possession; null if the day of possession is not known
--   office_id: customer id of the listing office
--   office_name: name of the office
--   state: received, due, signed or possession not known, see marts.receivables
--   home_count: homes
--   commission: whole commission, as marts.receivables has it; tax basis as declared in marts.tax_basis
--   late_commission: commission of homes whose commission has been due for over 30 days
--   is_receipt_noted: whether the office has noted the receipt of any commission; if not, every commission that is
--     due looks late
SELECT
    date_trunc('month', access_on)::DATE AS access_month,
    office_id,
    office_name,
    state,
    count(*) AS home_count,
    sum(commission)::DECIMAL(18, 4) AS commission,
    coalesce(sum(commission) FILTER (days_due > 30), 0)::DECIMAL(18, 4) AS late_commission,
    bool_or(is_receipt_noted) AS is_receipt_noted
FROM marts.receivables
GROUP BY ALL
ORDER BY access_month, office_id, state
