-- Which leads and tips are there, whose are they, and was the home sold?
-- One row per incoming lead, outgoing lead or tip, even if several answers contain it.
-- The office is the first of these that is an office of the chain; if none is, the office is unknown:
-- 1. the company that the lead names, by its id, number or name;
-- 2. the requested customer;
-- 3. the office at which the user had last worked.
-- Answers that do not count for the office (marts.office_sources) are left out. A tip is also taken from the answer that
-- counts for the office that received it, because the sender's answer may lack it. If several answers remain, the one
-- loaded last counts.
-- The sale of a home is found by the estate's id. A sale counts as later than the lead even if its contract is of the
-- same day. Sales before the file's first month are not known.
-- The table is built year by year, which takes a third less time than building all at once.
-- For each: SELECT unnest(range(coalesce(year(min(month)), 2000), coalesce(year(max(month)), 2000) + 1)) AS part_year FROM staging.leads
-- Key: lead_id, way
-- Columns:
--   estate_id: id of the estate concerned; outgoing leads have none
--   office_id: customer id of the office that received an incoming lead, or sent an outgoing lead or a tip; null if
--     unknown
--   office_name: name of the office
--   month: first day of the month in which the lead was created
--   user_id: id of the user who received an incoming lead, whom an outgoing lead concerns, or who sent a tip. Null in
--     two cases: if that was an office or a group of users; if the user is not in marts.users
--   user_name: name of the user; two users may have the same name: group by user_id, and show the label of marts.users
--   receiver_office_id: customer id of the office that received a tip, or whose user did. Null in two cases: for leads;
--     if the receiving company is no office of the chain
--   receiver_office_name: name of the office that received the tip, or whose user did
--   receiver_type: what received the tip: User, Group or Office; null for leads
--   receiver_user_id: id of the user who received the tip. Null in three cases: for leads; if an office or a group
--     received it; if the user is not in marts.users
--   receiver_user_name: name of the user who received the tip
--   is_removed: whether the service lists the lead as removed; such leads are in no count of other marts, except those
--     of removed leads
--   lead_side: seller or buyer, by the words of lead_type. Null in two cases: if they name neither; for outgoing leads
--     and tips
--   is_after_sale: whether the estate had been sold before the lead was created
--   is_first_of_home: whether the lead is the first of its way and side that names the estate. Removed leads, and
--     leads after the sale of the estate, do not count as first. So a home has at most one such lead per way and side
--   is_first_on_any_side: whether the lead is the first of its way that names the estate, on any side. Removed leads,
--     and leads after the sale of the estate, do not count as first. So a home has at most one such lead per way
--   sold_on: day of the contract, if the estate was sold after the lead was created
--   days_to_contract: days from the creation of the lead to sold_on
--   _customer: the customer whose answer the row comes from
--   _month: first day of the month of that answer
--   _load_id: the load of that answer; joins meta.loads
--   _row: row of bi.incoming_leads, bi.outgoing_leads or bi.tips
SELECT
    leads.lead_id,
    leads.way,
    leads.month,
    leads.created_at,
    leads.office_id,
    offices.office_name,
    users.user_id,
    users.user_name,
    receiver_offices.office_id AS receiver_office_id,
    receiver_offices.office_name AS receiver_office_name,
    leads.receiver_type,
    receivers.user_id AS receiver_user_id,
    receivers.user_name AS receiver_user_name,
    leads.lead_type,
    leads.lead_side,
    leads.state,
    leads.is_removed,
    leads.sender_name,
    leads.contact_id,
    leads.estate_id,
    leads.is_after_sale,
    firsts.landed_row IS NOT NULL AS is_first_of_home,
    coalesce(firsts.is_first_on_any_side, false) AS is_first_on_any_side,
    leads.sold_on,
    leads.sold_on - leads.created_at::DATE AS days_to_contract,
    leads.customer_id AS _customer,
    leads.month AS _month,
    leads.load_id AS _load_id,
    leads.landed_row AS _row
FROM staging.counted_leads AS leads
LEFT JOIN marts.offices AS offices USING (office_id)
LEFT JOIN staging.user_names AS users ON users.user_id = leads.party_id
LEFT JOIN marts.offices AS receiver_offices ON receiver_offices.office_id = leads.receiver_office_id
LEFT JOIN staging.user_names AS receivers ON receivers.user_id = leads.receiver_id
LEFT JOIN staging.first_leads AS firsts USING (way, month, landed_row)
WHERE leads.month BETWEEN make_date(getvariable('part_year'), 1, 1) AND make_date(getvariable('part_year'), 12, 31)
ORDER BY leads.office_id, leads.month
