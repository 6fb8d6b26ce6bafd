-- Which leads and tips are there, and at which offices?
-- One row per lead or tip and answer that contains it. Answers that do not count are left out, by the rules in the
-- header of marts.leads.
-- Columns:
--   office_id: customer id of the office that received an incoming lead, or sent an outgoing lead or a tip
--   receiver_office_id: customer id of the office that received a tip, or whose user did
WITH user_months AS (
    SELECT leads.user_id, leads.month, workplaces.office_id
    FROM (
        SELECT DISTINCT party_id AS user_id, month FROM staging.leads
        ANTI JOIN staging.lead_offices ON (company_number, company_id, company_name)
            IS NOT DISTINCT FROM (party_company_number, party_company_id, party_company_name)
    ) AS leads
    ASOF JOIN staging.user_offices AS workplaces ON workplaces.user_id = leads.user_id AND leads.month >= workplaces.month
),

leads_with_offices AS NOT MATERIALIZED (
    SELECT
        leads.*,
        coalesce(parties.office_id, by_customer.office_id, by_user.office_id) AS office_id,
        receivers.office_id AS receiver_office_id
    FROM staging.leads AS leads
    LEFT JOIN staging.lead_offices AS parties
        ON (parties.company_number, parties.company_id, parties.company_name)
        IS NOT DISTINCT FROM (leads.party_company_number, leads.party_company_id, leads.party_company_name)
    LEFT JOIN staging.lead_offices AS receivers
        ON (receivers.company_number, receivers.company_id, receivers.company_name)
        IS NOT DISTINCT FROM (leads.receiver_company_number, leads.receiver_company_id, leads.receiver_company_name)
    LEFT JOIN marts.offices AS by_customer ON by_customer.office_id = leads.customer_id
    LEFT JOIN user_months AS by_user ON by_user.user_id = leads.party_id AND by_user.month = leads.month
)

SELECT leads.* FROM leads_with_offices AS leads
LEFT JOIN (FROM marts.office_sources WHERE report = 'tips_and_leads') AS sources USING (office_id, month)
WHERE sources.customer_id IS NULL OR sources.customer_id = leads.customer_id OR (receiver_office_id, month, leads.customer_id) IN (
    SELECT (office_id, month, customer_id) FROM marts.office_sources WHERE report = 'tips_and_leads'
)
