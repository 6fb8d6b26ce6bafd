-- What are users called, and are they in a directory?
-- One row per user in the directory, the user report, the sales or the running commissions.
-- The name is that of the directory, else of the latest sale, lead, running commission or budget that names the user.
-- Names on running commissions and budgets are not documented, and may be missing.
-- Kind: table
-- Columns:
--   user_id: id of the user
--   user_name: name of the user
--   user_label: the name, with the office, employee number or id if another user has the same name; the id if there
--     is no name
--   name_source: directory, sale, lead, running commission or budget: the report that the name is taken from
--   employee_id: employee number, as on the latest sale
--   is_in_directory: whether the directory of a customer that is still requested has the user now
--   is_missing_in_directory: whether the user is in a customer's user report but in no directory, although
--     this customer's directory has other users of the report; false if that cannot be known
--   left_directory_on: day on which the last directory that had the user was first read without the user; null if a
--     directory still has the user, or none ever had
WITH running_events AS (
    SELECT * FROM bi.running_commissions
    UNION ALL BY NAME
    SELECT NULL::VARCHAR AS user_name WHERE false
),

all_names AS (
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
    SELECT user_id, user_name::VARCHAR, 'running commission', true, _row FROM running_events
    UNION ALL
    SELECT user_id, user_name, 'budget', true, _row FROM bi.budget_commission_history
    UNION ALL
    SELECT user_id, user_name, 'budget', true, _row FROM bi.budget_sold_estates_history
),

names AS (
    SELECT
        user_id,
        arg_max(trim(user_name), (
            -list_position(['directory', 'sale', 'lead', 'running commission', 'budget'], name_source),
            is_refreshed,
            coalesce(landed_row, 0)
        )) AS user_name,
        arg_min(name_source, list_position(['directory', 'sale', 'lead', 'running commission', 'budget'], name_source))
            AS name_source
    FROM all_names
    WHERE user_id IS NOT NULL AND trim(user_name) <> ''
    GROUP BY ALL
),

agents_seen AS (
    SELECT
        user_id,
        arg_max(employee_id, landed_row) AS employee_id,
        arg_max(user_office_name, landed_row) AS office_name
    FROM staging.sales_agents
    GROUP BY ALL
),

earners_seen AS (
    SELECT user_id, arg_max(office_name, month) AS office_name
    FROM marts.running_commissions
    GROUP BY ALL
),

directory AS (
    SELECT user_id, bool_or(is_refreshed) AS is_refreshed FROM staging.users GROUP BY ALL
),

customers_with_directory AS (
    SELECT DISTINCT customer_id
    FROM staging.users AS users
    INNER JOIN staging.commission_user AS earners USING (customer_id, user_id)
    WHERE users.is_refreshed
),

users_expected AS (
    SELECT DISTINCT user_id
    FROM staging.commission_user
    INNER JOIN customers_with_directory USING (customer_id)
),

all_users AS (
    SELECT user_id FROM directory
    UNION SELECT user_id FROM agents_seen
    UNION SELECT user_id FROM staging.commission_user
    UNION SELECT user_id FROM marts.running_commissions
),

named_users AS (
    SELECT
        all_users.user_id,
        names.user_name,
        names.name_source,
        agents_seen.employee_id,
        coalesce(directory.is_refreshed, false) AS is_in_directory,
        directory.user_id IS NULL AND users_expected.user_id IS NOT NULL AS is_missing_in_directory,
        users_left.left_on AS left_directory_on,
        coalesce(agents_seen.office_name, earners_seen.office_name) AS office_name
    FROM all_users
    LEFT JOIN names USING (user_id)
    LEFT JOIN directory USING (user_id)
    LEFT JOIN users_expected USING (user_id)
    LEFT JOIN staging.users_left AS users_left USING (user_id)
    LEFT JOIN agents_seen USING (user_id)
    LEFT JOIN earners_seen USING (user_id)
    WHERE all_users.user_id IS NOT NULL
)

SELECT
    user_id,
    user_name,
    CASE
        WHEN user_name IS NULL THEN user_id
        WHEN count(*) OVER (PARTITION BY lower(user_name)) = 1 THEN user_name
        WHEN count(*) OVER (PARTITION BY lower(user_name), office_name) = 1 AND office_name IS NOT NULL
            THEN user_name || ' (' || office_name || ')'
        WHEN count(*) OVER (PARTITION BY lower(user_name), employee_id) = 1 AND employee_id IS NOT NULL
            THEN user_name || ' (' || employee_id || ')'
        ELSE user_name || ' (' || user_id || ')'
    END AS user_label,
    name_source,
    employee_id,
    is_in_directory,
    is_missing_in_directory,
    left_directory_on
FROM named_users
