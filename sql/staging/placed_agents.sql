-- At which office does an agent's share of a sale count?
-- One row per agent of an estate in an answer, as in staging.sales_agents.
-- A share counts at the first of these offices:
-- 1. the listing office, if the agent worked there in the month;
-- 2. the stated office, which is the agent's office of today, if the agent worked there in the month;
-- 3. the office at which the agent worked in the month;
-- 4. the stated office.
-- Columns:
--   counted_office_id: customer id of the office at which the share counts
SELECT
    agents.*,
    CASE
        WHEN list_contains(workplaces.working_offices, estates.office_id) THEN estates.office_id
        WHEN list_contains(workplaces.working_offices, agents.user_office_id) THEN agents.user_office_id
        ELSE coalesce(workplaces.office_id, agents.user_office_id)
    END AS counted_office_id
FROM staging.sales_agents AS agents
INNER JOIN staging.sales_estates AS estates ON estates.landed_row = agents.landed_estate
LEFT JOIN staging.user_offices AS workplaces ON workplaces.user_id = agents.user_id AND workplaces.month = estates.month
