-- At which office did a user work in a month?
-- One row per user and month with a trace of an office.
-- No report states the office. Evidence counts in this order, within a kind the office with the most of it: the user
-- report of the office itself, running commissions, the listing office of the sales that the user was responsible
-- for, the agent's own office on sales (today's, even on old sales), the company of the user's leads, budgets with an
-- amount, and in the latest month read, the directory of an office if only one has the user.
-- Kind: table
-- Columns:
--   user_id: id of the user
--   month: first day of the month
--   office_id: customer id of the office the user worked at
--   named_offices: customer ids of all offices that these traces name, by id
--   working_offices: customer ids of those that the first three kinds of evidence name; null without any
WITH traces AS (
    SELECT users.user_id, users.month, own.office_id, 1 AS choice, sum(users.commission) AS weight
    FROM staging.commission_user AS users
    INNER JOIN marts.offices AS own ON own.office_id = users.customer_id
    WHERE greatest(users.commission, users.sold_estate_parts, users.writing_parts, users.valuation_parts) > 0
    GROUP BY ALL
    UNION ALL
    SELECT user_id, month, office_id, 2, count(*)
    FROM marts.running_commissions
    GROUP BY ALL
    UNION ALL
    SELECT responsible_user_id, month, office_id, 3, count(*)
    FROM marts.sales
    GROUP BY ALL
    UNION ALL
    SELECT agents.user_id, sales.month, agents.user_office_id, 4, count(*)
    FROM staging.sales_agents AS agents
    INNER JOIN marts.sales AS sales ON sales._row = agents.landed_estate
    GROUP BY ALL
    UNION ALL
    SELECT leads.party_id, leads.month, companies.office_id, 5, count(*)
    FROM staging.leads AS leads
    INNER JOIN staging.lead_offices AS companies
        ON (companies.company_number, companies.company_id, companies.company_name)
        IS NOT DISTINCT FROM (leads.party_company_number, leads.party_company_id, leads.party_company_name)
    GROUP BY ALL
    UNION ALL
    SELECT user_id, month, office_id, 6, count(*)
    FROM marts.budgets
    WHERE valid_to_utc IS NULL AND amount <> 0
    GROUP BY ALL
    UNION ALL
    SELECT users.user_id, date_trunc('month', max(users.read_at_utc))::DATE, any_value(own.office_id), 7, 1
    FROM staging.users AS users
    INNER JOIN marts.offices AS own ON own.office_id = users.customer_id
    GROUP BY users.user_id
    HAVING count(DISTINCT own.office_id) = 1
)

SELECT
    user_id,
    month,
    arg_min(office_id, (choice, -weight, office_id)) AS office_id,
    array_to_string(list_sort(list(DISTINCT office_id)), ', ') AS named_offices,
    list(DISTINCT office_id) FILTER (choice <= 3) AS working_offices
FROM traces
WHERE user_id IS NOT NULL AND office_id IS NOT NULL
GROUP BY ALL
