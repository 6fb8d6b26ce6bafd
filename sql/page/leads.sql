-- How many leads were received in the last twelve months, how many homes do they name, and how many of these were sold?
-- One row per page (the chain, a brand, a region or an office), part, way and name. Part states what name is: all,
-- side, kind, state or office, and for incoming leads also sender, or week (only those that begin in the newest three
-- months). In the parts side and kind a home counts once per side, in the other parts once in all. Days is the median
-- of all leads, days_of_sellers that of leads from sellers.
WITH lead_counts AS (
    SELECT * EXCLUDE (days_to_contract_total), NULL AS days_to_contract FROM marts.lead_funnel
    UNION ALL BY NAME
    SELECT month, office_id, office_name, way, lead_type, lead_side, state, days_to_contract
    FROM marts.leads
    WHERE is_first_of_home AND sold_on IS NOT NULL
),

page_leads AS (
    SELECT coalesce(levels.level, 'chain') AS kind, coalesce(levels.member_id, '') AS scope, lead_counts.*
    FROM lead_counts
    LEFT JOIN marts.office_levels AS levels ON levels.office_id = lead_counts.office_id
    WHERE month > (SELECT max(month) FROM marts.office_month) - INTERVAL 12 MONTH
        AND (kind = 'chain' OR levels.member_id IS NOT NULL)
),

leads_by_name AS (
    SELECT 'all' AS part, '' AS name, * FROM page_leads
    UNION ALL BY NAME
    SELECT 'side' AS part, coalesce(lead_side, 'unknown') AS name, * FROM page_leads
    UNION ALL BY NAME
    SELECT 'kind' AS part, lead_type AS name, * FROM page_leads
    UNION ALL BY NAME
    SELECT 'state' AS part, state AS name, * FROM page_leads
    UNION ALL BY NAME
    SELECT 'office' AS part, coalesce(office_name, office_id) AS name, * FROM page_leads WHERE kind <> 'office'
),

received_leads AS (
    SELECT
        coalesce(levels.level, 'chain') AS kind,
        coalesce(levels.member_id, '') AS scope,
        parts.part,
        leads.*,
        CASE parts.part WHEN 'sender' THEN leads.sender_name ELSE strftime(date_trunc('week', leads.created_at), '%Y-%m-%d') END AS name
    FROM marts.leads AS leads
    LEFT JOIN marts.office_levels AS levels ON levels.office_id = leads.office_id
    CROSS JOIN (VALUES ('week'), ('sender')) AS parts(part)
    WHERE leads.way = 'incoming lead'
        AND leads.month > (SELECT max(month) FROM marts.office_month) - INTERVAL 12 MONTH
        AND (kind = 'chain' OR levels.member_id IS NOT NULL)
)

SELECT
    kind,
    scope,
    part,
    way,
    name,
    sum(lead_count)::BIGINT AS leads,
    sum(removed_lead_count)::BIGINT AS removed,
    sum(no_home_lead_count)::BIGINT AS without_home,
    sum(CASE WHEN part IN ('side', 'kind') THEN home_count ELSE distinct_home_count END)::BIGINT AS homes,
    sum(CASE WHEN part IN ('side', 'kind') THEN sold_count ELSE distinct_sold_count END)::BIGINT AS sold,
    median(days_to_contract) AS days,
    median(days_to_contract) FILTER (lead_side = 'seller') AS days_of_sellers
FROM leads_by_name
GROUP BY ALL
HAVING part = 'all' OR sum(lead_count) > 0 OR sum(removed_lead_count) > 0
UNION ALL BY NAME
SELECT
    kind,
    scope,
    part,
    'incoming lead' AS way,
    name,
    count(*) FILTER (NOT is_removed) AS leads,
    count(*) FILTER (is_removed) AS removed,
    count(*) FILTER (NOT is_removed AND estate_id IS NULL) AS without_home,
    count(*) FILTER (is_first_of_home) AS homes,
    count(sold_on) FILTER (is_first_of_home) AS sold,
    median(days_to_contract) FILTER (is_first_of_home) AS days
FROM received_leads
GROUP BY ALL
HAVING part = 'sender' OR name >= strftime((SELECT max(month) FROM marts.office_month) - INTERVAL 2 MONTH, '%Y-%m-%d')
ORDER BY kind, scope, part, way, leads DESC, name
