-- What are users called, in whichever report names them?
-- One row per user with a name: that of the directory, else of the latest sale, lead, running commission or budget.
-- Names beside running commissions and budgets are not documented; where none has arrived, there is none.
-- Columns:
--   user_id: id of the user
--   user_name: name of the user
--   name_source: directory, sale, lead, running commission or budget: the report that the name is taken from
WITH budgeted_users AS (
    SELECT _row, to_json(_given) AS said FROM bi.budget_commission__users_history AS _given
    UNION ALL
    SELECT _row, to_json(_given) FROM bi.budget_sold_estates__users_history AS _given
),

running AS (
    SELECT * FROM bi.running_commissions
    UNION ALL BY NAME
    SELECT NULL::VARCHAR AS user_name WHERE false
),

found AS (
    SELECT user_id, user_name, 'directory' AS name_source, is_refreshed, landed_row
    FROM staging.users
    UNION ALL
    SELECT user_id, user_name, 'sale', true, landed_row FROM staging.sales_agents
    UNION ALL
    SELECT receiver_id, receiver_name, 'lead', true, _row FROM bi.incoming_leads
    UNION ALL
    SELECT user_id, user_name, 'lead', true, _row FROM bi.outgoing_leads
    UNION ALL
    SELECT sender_id, sender_name, 'lead', true, _row FROM bi.tips
    UNION ALL
    SELECT receiver_id, receiver_name, 'lead', true, _row FROM bi.tips
    UNION ALL
    SELECT user_id, user_name::VARCHAR, 'running commission', true, _row FROM running
    UNION ALL
    SELECT said ->> 'user_id', coalesce(said ->> 'name', said ->> 'user_name'), 'budget', true, _row FROM budgeted_users
)

SELECT
    user_id,
    arg_max(trim(user_name), (
        -list_position(['directory', 'sale', 'lead', 'running commission', 'budget'], name_source),
        is_refreshed,
        coalesce(landed_row, 0)
    )) AS user_name,
    arg_min(name_source, list_position(['directory', 'sale', 'lead', 'running commission', 'budget'], name_source))
        AS name_source
FROM found
WHERE user_id IS NOT NULL AND trim(user_name) <> ''
GROUP BY ALL
