-- Which leads and tips count, at which office, and was the home sold?
-- One row per lead or tip of staging.leads, even if several answers contain it. The header of marts.leads states the
-- rules.
-- Columns:
--   office_id: customer id of the office that received an incoming lead, or sent an outgoing lead or a tip
--   receiver_office_id: customer id of the office that received a tip, or whose user did
--   lead_side: seller or buyer, by the words of lead_type
--   is_after_sale: whether the estate had been sold before the lead was created
--   sold_on: day of the contract, if the estate was sold after the lead was created
SELECT
    leads.*,
    lead_side(leads.way, leads.lead_type) AS lead_side,
    coalesce(sales.contract_on < leads.created_at::DATE, false) AS is_after_sale,
    CASE WHEN sales.contract_on >= leads.created_at::DATE THEN sales.contract_on END AS sold_on
FROM staging.leads_with_offices AS leads
LEFT JOIN staging.repeated_leads AS repeated_leads USING (way, lead_id)
LEFT JOIN marts.sales AS sales ON sales.estate_id = leads.estate_id
WHERE repeated_leads.landed_row IS NULL OR repeated_leads.landed_row = leads.landed_row
