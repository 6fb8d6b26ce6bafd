-- Which leads are untouched and should be phoned, how old are they, and which ask for a valuation?
-- One row per incoming lead or tip with the state New that is not removed. Leads of sellers come first; of each kind,
-- the oldest comes first. It is assumed that New means untouched.
-- A lead that an agent has taken up since read_at_utc is still here.
-- For figures, count rows by office and age_band: yesterday's leads are not overdue.
-- Key: lead_id, way
-- Columns:
--   lead_id: id of the lead or tip
--   way: incoming lead or tip
--   office_id: customer id of the office that the lead belongs to. A tip belongs to the office that received it if
--     that is known, else to the office that sent it
--   office_name: name of the office
--   user_id: id of the user that the lead belongs to. A tip belongs to the user who received it or, if the office that
--     received it is not known, to the user who sent it. Null in two cases: if that is an office or a group of users;
--     if the user is not in marts.users
--   user_name: name of the user; two users may have the same name: group by user_id, and show the label of marts.users
--   is_valuation_request: whether the kind of lead is a seller's, see lead_side of marts.leads
--   age_days: whole days from the creation of the lead to counted_on
--   age_band: 0-2 days, 3-7 days, 8-30 days, 31-90 days or over 90 days
--   month: first day of the month in which the lead was created
--   counted_on: day of the newest answer on leads of the row's customer, in the chain's time zone
--   is_refreshed: whether the leads of the office are still requested
--   read_at_utc: when the service gave the answer that this row comes from
--   _customer: the customer whose answer the row comes from
--   _month: first day of the month of the answer of _customer
--   _load_id: load of the answer of _customer; joins meta.loads
WITH answers AS (
    SELECT
        months.customer_id,
        months.month,
        months.fetched_at_utc,
        months.is_refreshed,
        local_day(max(months.fetched_at_utc) OVER (PARTITION BY months.customer_id)) AS counted_on
    FROM staging.months AS months
    WHERE months.report = 'tips_and_leads'
)

SELECT
    leads.lead_id,
    leads.way,
    coalesce(leads.receiver_office_id, leads.office_id) AS office_id,
    CASE WHEN leads.receiver_office_id IS NULL THEN leads.office_name ELSE leads.receiver_office_name END AS office_name,
    CASE WHEN leads.receiver_office_id IS NULL THEN leads.user_id ELSE leads.receiver_user_id END AS user_id,
    CASE WHEN leads.receiver_office_id IS NULL THEN leads.user_name ELSE leads.receiver_user_name END AS user_name,
    leads.lead_type,
    coalesce(leads.lead_side = 'seller', false) AS is_valuation_request,
    leads.created_at,
    greatest(answers.counted_on - leads.created_at::DATE, 0) AS age_days,
    CASE
        WHEN age_days <= 2 THEN '0-2 days'
        WHEN age_days <= 7 THEN '3-7 days'
        WHEN age_days <= 30 THEN '8-30 days'
        WHEN age_days <= 90 THEN '31-90 days'
        WHEN age_days > 90 THEN 'over 90 days'
    END AS age_band,
    leads.sender_name,
    leads.contact_id,
    leads.estate_id,
    leads.month,
    answers.counted_on,
    answers.is_refreshed,
    answers.fetched_at_utc AS read_at_utc,
    leads._customer,
    leads._month,
    leads._load_id
FROM marts.leads AS leads
INNER JOIN answers ON answers.customer_id = leads._customer AND answers.month = leads._month
WHERE leads.state = 'New' AND leads.way <> 'outgoing lead' AND NOT leads.is_removed
ORDER BY is_valuation_request DESC, leads.created_at, leads.lead_id
