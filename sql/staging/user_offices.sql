-- At which office did a user work in a month?
-- One row per user and month with a trace of an office.
-- No report states the office. The best kind of evidence counts. If it names several offices, the one with the most
-- evidence counts. The kinds of evidence, the best first:
-- 1. the user report of the office itself;
-- 2. running commissions;
-- 3. the listing office of the sales that the user was responsible for;
-- 4. the company of the user's leads;
-- 5. budgets with an amount;
-- 6. the agent's own office as the sales state it, which is the office of today, even on old sales;
-- 7. the directory of an office, in the month in which it was last read, if no other office's directory has the user.
-- If user reports of several customers have the user, the customer with the user's largest commission so far comes
-- first, so that an agent of two offices does not move every month. For the same reason, the agent stays at that office
-- in later months without a user report, as long as any evidence names it.
-- Kind: table
-- Columns:
--   user_id: id of the user
--   month: first day of the month
--   office_id: customer id of the office the user worked at
--   named_offices: customer ids of all offices that any evidence names, in the order of their ids
--   working_offices: customer ids of the offices that the best kind of evidence names. Each customer whose user report
--     has the user has a best kind of its own. If no user report has the user, there is one best kind for all offices.
--     An office may be named twice
WITH sales_read AS (
    SELECT agents.user_id, estates.month, estates.estate_id, estates.office_id, agents.user_office_id, agents.is_responsible
    FROM staging.sales_agents AS agents
    INNER JOIN staging.sales_estates AS estates ON estates.landed_row = agents.landed_estate
    WHERE estates.is_sale
),

sales_led AS (  -- each sale once, although several offices may list it
    SELECT user_id, month, arg_min(office_id, (office_id IS DISTINCT FROM user_office_id, office_id)) AS office_id
    FROM sales_read
    WHERE is_responsible
    GROUP BY user_id, month, estate_id
),

users_reported AS (
    SELECT
        user_id, month, customer_id, commission,
        sum(commission) OVER (PARTITION BY user_id, customer_id ORDER BY month) AS commission_so_far
    FROM staging.commission_user
    WHERE greatest(commission, sold_estate_parts, writing_parts, valuation_parts) > 0
),

traces AS (
    SELECT users.user_id, users.month, offices.office_id, 1 AS choice, sum(users.commission) AS weight
    FROM users_reported AS users
    INNER JOIN marts.offices AS offices ON offices.office_id = users.customer_id
    GROUP BY ALL
    UNION ALL
    SELECT user_id, month, office_id, 2, count(*)
    FROM marts.running_commissions
    GROUP BY ALL
    UNION ALL
    SELECT user_id, month, office_id, 3, count(*)
    FROM sales_led
    GROUP BY ALL
    UNION ALL
    SELECT leads.party_id, leads.month, companies.office_id, 4, count(*)
    FROM staging.leads AS leads
    INNER JOIN staging.lead_offices AS companies
        ON (companies.company_number, companies.company_id, companies.company_name)
        IS NOT DISTINCT FROM (leads.party_company_number, leads.party_company_id, leads.party_company_name)
    GROUP BY ALL
    UNION ALL
    SELECT user_id, month, office_id, 5, count(*)
    FROM marts.budgets
    WHERE valid_to_utc IS NULL AND amount <> 0
    GROUP BY ALL
    UNION ALL
    SELECT user_id, month, user_office_id, 6, count(*)
    FROM sales_read
    GROUP BY ALL
    UNION ALL
    SELECT users.user_id, date_trunc('month', local_day(max(users.read_at_utc)))::DATE, any_value(offices.office_id), 7, 1
    FROM staging.users AS users
    INNER JOIN marts.offices AS offices ON offices.office_id = users.customer_id
    GROUP BY users.user_id
    HAVING count(DISTINCT offices.office_id) = 1
),

ranked_traces AS (
    SELECT
        traces.*,
        users.commission_so_far,
        users.customer_id AS reported_by,
        choice = min(choice) OVER (PARTITION BY user_id, month, users.customer_id)
        AND (users.customer_id IS NOT NULL OR count(users.customer_id) OVER (PARTITION BY user_id, month) = 0) AS is_best,
        CASE WHEN is_best AND users.customer_id IS NOT NULL THEN office_id END AS reported_office
    FROM traces
    LEFT JOIN staging.customer_offices AS customers USING (office_id)
    LEFT JOIN users_reported AS users USING (user_id, month, customer_id)
    WHERE traces.user_id IS NOT NULL AND traces.office_id IS NOT NULL
),

offices_found AS (  -- is_of_several is null in months in which no user report has the user
    SELECT
        user_id,
        month,
        arg_min(office_id, (-coalesce(commission_so_far, 0), choice, -weight, office_id)) FILTER (is_best) AS office_id,
        list_sort(list(DISTINCT office_id)) AS named_offices,
        list(office_id) FILTER (is_best) AS working_offices,
        CASE WHEN min(reported_by) = max(reported_by) THEN false ELSE min(reported_office) <> max(reported_office) END
            AS is_of_several
    FROM ranked_traces
    GROUP BY user_id, month
),

last_reports AS (
    SELECT
        user_id, month,
        last_value(CASE WHEN is_of_several IS NOT NULL THEN {is_of_several: is_of_several, office_id: office_id} END IGNORE NULLS)
            OVER (PARTITION BY user_id ORDER BY month) AS report
    FROM offices_found
    SEMI JOIN (FROM offices_found WHERE is_of_several) USING (user_id)
)

SELECT
    user_id,
    month,
    CASE WHEN report.is_of_several AND list_contains(named_offices, report.office_id) THEN report.office_id ELSE office_id END AS office_id,
    array_to_string(named_offices, ', ') AS named_offices,
    working_offices
FROM offices_found
LEFT JOIN last_reports USING (user_id, month)
