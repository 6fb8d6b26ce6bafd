-- Which leads and tips were sent, by whom and to whom?
-- One row per requested customer and incoming lead, outgoing lead or tip.
-- Messages and the names of contacts stay in bi: counts do not need them.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   way: incoming lead, outgoing lead or tip
--   lead_id: id of the lead or tip
--   month: first day of the month
--   load_id: the load it comes from; joins meta.loads
--   landed_row: _row of the lead or tip in its table of bi
--   created_at: when it was created, in local time
--   lead_type: kind of lead, as the service words it; for tips, FromUser or FromViewing
--   state: state of the lead, such as New or Done; others are possible; null for outgoing leads
--   party_id: id of the user, group or office of the chain that the lead belongs to: the receiver of an incoming lead,
--     the user whom an outgoing lead concerns, or the sender of a tip
--   party_company_number: customer number of the company of that party
--   party_company_id: id of that company
--   party_company_name: name of that company
--   receiver_id: id of the user, group or office that received a tip; null for leads
--   receiver_type: what receiver_id identifies: User, Group or Office
--   receiver_company_number: customer number of the company of that receiver
--   receiver_company_id: id of that company
--   receiver_company_name: name of that company
--   sender_name: name of the sender; for an incoming lead, its source
--   contact_id: id of the person concerned
--   estate_id: id of the estate concerned; outgoing leads have none
--   is_removed: whether it came in an answer to the request for removed leads; false without such a request
WITH incoming_read AS (
    SELECT NULL::BOOLEAN AS is_removed WHERE false -- for files that were made before removed leads were requested
    UNION ALL BY NAME
    SELECT * FROM bi.incoming_leads
),

outgoing_read AS (
    SELECT NULL::BOOLEAN AS is_removed WHERE false
    UNION ALL BY NAME
    SELECT * FROM bi.outgoing_leads
),

tips_read AS (
    SELECT NULL::BOOLEAN AS is_removed WHERE false
    UNION ALL BY NAME
    SELECT * FROM bi.tips
)

SELECT
    _customer AS customer_id,
    'incoming lead' AS way,
    lead_id,
    _month AS month,
    _load_id AS load_id,
    _row AS landed_row,
    created_at,
    coalesce(is_removed, false) AS is_removed,
    lead_type,
    lead_state AS state,
    receiver_id AS party_id,
    receiver_company_customer_number AS party_company_number,
    receiver_company_id AS party_company_id,
    receiver_company_name AS party_company_name,
    sender_name,
    contact_id,
    estate_id
FROM incoming_read
UNION ALL BY NAME
SELECT
    _customer AS customer_id,
    'outgoing lead' AS way,
    lead_id,
    _month AS month,
    _load_id AS load_id,
    _row AS landed_row,
    created_at,
    coalesce(is_removed, false) AS is_removed,
    lead_type,
    user_id AS party_id,
    sender_company_customer_number AS party_company_number,
    sender_company_id AS party_company_id,
    sender_company_name AS party_company_name,
    sender_name,
    contact_id
FROM outgoing_read
UNION ALL BY NAME
SELECT
    _customer AS customer_id,
    'tip' AS way,
    tip_id AS lead_id,
    _month AS month,
    _load_id AS load_id,
    _row AS landed_row,
    created_at,
    coalesce(is_removed, false) AS is_removed,
    tip_type AS lead_type,
    tip_state AS state,
    sender_id AS party_id,
    sender_company_customer_number AS party_company_number,
    sender_company_id AS party_company_id,
    sender_company_name AS party_company_name,
    receiver_id,
    receiver_type,
    receiver_company_customer_number AS receiver_company_number,
    receiver_company_id,
    receiver_company_name,
    sender_name,
    contact_id,
    estate_id
FROM tips_read
