-- Which users are there, and what are they called?
-- One row per user in the directory, the user report, the sales or the running commissions.
-- The name is that of the directory, else of the latest sale.
-- Columns:
--   user_id: id of the user
--   user_name: name of the user
--   employee_id: employee number, as on the latest sale
--   is_in_directory: whether the directory of users has the user now
WITH agents_named AS (
    SELECT
        user_id,
        arg_max(user_name, landed_row) AS user_name,
        arg_max(employee_id, landed_row) AS employee_id
    FROM staging.sales_agents
    GROUP BY ALL
),

directory AS (
    SELECT user_id, max(user_name) AS user_name FROM staging.users GROUP BY ALL
),

everybody AS (
    SELECT user_id FROM directory
    UNION SELECT user_id FROM agents_named
    UNION SELECT user_id FROM staging.commission_user
    UNION SELECT user_id FROM marts.running_commissions
)

SELECT
    user_id,
    coalesce(directory.user_name, agents_named.user_name) AS user_name,
    agents_named.employee_id,
    directory.user_id IS NOT NULL AS is_in_directory
FROM everybody
LEFT JOIN directory USING (user_id)
LEFT JOIN agents_named USING (user_id)
WHERE user_id IS NOT NULL
ORDER BY user_id
