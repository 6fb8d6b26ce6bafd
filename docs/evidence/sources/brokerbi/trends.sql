SELECT * EXCLUDE (user_id) FROM marts.agent_trends WHERE NOT has_left AND commission_change IS NOT NULL
