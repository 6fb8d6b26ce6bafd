-- How many leads were received in the last twelve months, how many homes do they name, and how many of these were sold?
-- One row per page (the chain, a brand, a region or an office), part, way and name. part states what name is: all,
-- or, for incoming leads, side, kind, state, office, sender or week. A week is here if it began in the newest three
-- months and is over. A week without a lead has a zero, if the page has any lead of these months.
-- A tip counts at the office that received it, as in marts.untouched_leads.
-- In the parts side and kind, a home counts once per side; in the other parts, once in all. For senders, homes of
-- buyers do not count, as in marts.lead_sources.
-- days is the median of the days from a sold home's first lead to its contract.
WITH newest AS (
    SELECT max(month) AS month FROM marts.office_month
),

weeks AS (
    SELECT unnest(range(
        date_trunc('week', newest.month - INTERVAL 2 MONTH + INTERVAL 6 DAY),
        max(least(sources.fetched_at_utc, sources.month + INTERVAL 1 MONTH)) - INTERVAL 7 DAY, INTERVAL 7 DAY
    )) AS monday
    FROM newest, marts.office_sources AS sources
    WHERE sources.report = 'tips_and_leads'
    GROUP BY newest.month
),

lead_counts AS (
    SELECT 'all' AS part, '' AS name, * EXCLUDE (days_to_contract_total) FROM marts.lead_funnel WHERE way <> 'tip'
    UNION ALL BY NAME
    SELECT
        'all' AS part, '' AS name, month, coalesce(receiver_office_id, office_id) AS office_id, office_name, way, lead_type,
        lead_side, state, CASE WHEN is_first_of_home THEN days_to_contract END AS days_to_contract, is_first_on_any_side,
        (way = 'tip' AND NOT is_removed)::INT AS lead_count, (way = 'tip' AND is_removed)::INT AS removed_lead_count,
        (estate_id IS NULL)::INT * lead_count AS no_home_lead_count, is_first_of_home::INT * lead_count AS distinct_home_count,
        (sold_on IS NOT NULL)::INT * distinct_home_count AS distinct_sold_count
    FROM marts.leads
    WHERE way = 'tip' OR (is_first_of_home AND sold_on IS NOT NULL)
    UNION ALL BY NAME
    SELECT
        'sender' AS part, sender_name AS name, month, office_id, 'incoming lead' AS way, lead_count,
        home_count AS distinct_home_count, sold_count AS distinct_sold_count
    FROM marts.lead_sources
    UNION ALL BY NAME
    SELECT
        'week' AS part, strftime(monday, '%Y-%m-%d') AS name, leads.month, office_id, way,
        count(*) FILTER (monday = date_trunc('week', created_at)) AS lead_count
    FROM marts.leads AS leads
    INNER JOIN newest ON leads.month >= newest.month - INTERVAL 2 MONTH
    CROSS JOIN weeks
    WHERE way = 'incoming lead' AND NOT is_removed
    GROUP BY ALL
),

page_leads AS (
    SELECT coalesce(levels.level, 'chain') AS kind, coalesce(levels.member_id, '') AS scope, lead_counts.*
    FROM lead_counts
    INNER JOIN newest ON lead_counts.month > newest.month - INTERVAL 12 MONTH
    LEFT JOIN marts.office_levels AS levels ON levels.office_id = lead_counts.office_id
    WHERE kind = 'chain' OR levels.member_id IS NOT NULL
),

leads_by_name AS (
    FROM page_leads
    UNION ALL
    SELECT * REPLACE (
        unnest(['side', 'kind', 'state', 'office']) AS part,
        unnest([coalesce(lead_side, 'unknown'), lead_type, state, coalesce(office_name, office_id)]) AS name
    )
    FROM page_leads
    WHERE part = 'all' AND way = 'incoming lead'
)

SELECT
    kind, scope, part, way, name,
    sum(lead_count)::BIGINT AS leads,
    sum(removed_lead_count)::BIGINT AS removed,
    sum(no_home_lead_count)::BIGINT AS without_home,
    sum(CASE WHEN part IN ('side', 'kind') THEN home_count ELSE distinct_home_count END)::BIGINT AS homes,
    sum(CASE WHEN part IN ('side', 'kind') THEN sold_count ELSE distinct_sold_count END)::BIGINT AS sold,
    median(days_to_contract) FILTER (part IN ('side', 'kind') OR is_first_on_any_side) AS days
FROM leads_by_name
GROUP BY ALL
HAVING part IN ('all', 'week') OR sum(lead_count) > 0 OR sum(removed_lead_count) > 0
ORDER BY kind, scope, part, way, leads DESC, name
