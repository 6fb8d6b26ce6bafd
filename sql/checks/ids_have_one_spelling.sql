-- Is one office or user spelled in two ways, so that it counts as two?
-- One row per office or user whose ids differ only in case or leading zeros, with the reports that have each spelling.
-- Ids are loaded as received, so the numbers of a report with one spelling are not matched with those of a report with
-- the other. If the settings spell an office differently, spell it as the reports do; else ask the service's support
-- why they differ.
-- Severity: warning
-- Concerns: commission
WITH ids_by_report AS (
    SELECT 'office' AS kind, customer_id AS id, 'settings' AS report FROM marts.customers WHERE is_active
    UNION
    SELECT 'office', office_customer_id, 'commission_office' FROM bi.commission_office
    UNION
    SELECT 'office', office_customer_id, 'sales' FROM bi.sales_estates
    UNION
    SELECT 'office', primary_office_customer_id, 'sales' FROM bi.sales_agents
    UNION
    SELECT 'office', office_customer_id, 'sold_estates' FROM bi.sold_estates
    UNION
    SELECT 'office', customer_id, 'running_commissions' FROM bi.running_commissions
    UNION
    SELECT 'office', receiver_company_customer_number, 'tips_and_leads' FROM bi.incoming_leads
    UNION
    SELECT 'office', sender_company_customer_number, 'tips_and_leads' FROM bi.outgoing_leads
    UNION
    SELECT 'office', sender_company_customer_number, 'tips_and_leads' FROM bi.tips
    UNION
    SELECT 'office', office_id, report FROM marts.budgets WHERE valid_to_utc IS NULL
    UNION
    SELECT 'user', id, 'users' FROM bi.users
    UNION
    SELECT 'user', user_id, 'commission_user' FROM bi.commission_user
    UNION
    SELECT 'user', id, 'sales' FROM bi.sales_agents
    UNION
    SELECT 'user', user_id, 'running_commissions' FROM bi.running_commissions
    UNION
    SELECT 'user', receiver_id, 'tips_and_leads' FROM bi.incoming_leads
    UNION
    SELECT 'user', user_id, 'tips_and_leads' FROM bi.outgoing_leads
    UNION
    SELECT 'user', sender_id, 'tips_and_leads' FROM bi.tips
    UNION
    SELECT 'user', user_id, report FROM marts.budgets WHERE valid_to_utc IS NULL
),

spellings_by_id AS (
    SELECT kind, id, string_agg(report, ', ' ORDER BY report) AS reports
    FROM ids_by_report
    WHERE id IS NOT NULL
    GROUP BY ALL
)

SELECT
    kind,
    count(*) AS spelling_count,
    string_agg(id || ' (' || reports || ')', '; ' ORDER BY id) AS spellings
FROM spellings_by_id
GROUP BY kind, lower(ltrim(id, '0'))
HAVING count(*) > 1
ORDER BY kind, spellings
