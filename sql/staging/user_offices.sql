-- At which office did a user work in a month?
-- One row per user and month with a trace of an office.
-- No report says it outright. It is taken from the agent's own office on the sales of the month, else from the
-- running commissions, else from the company of the user's leads, else from the budgets as they stand; where
-- several offices are named, the one that is named most.
-- Kind: table
-- Columns:
--   user_id: id of the user
--   month: first day of the month
--   office_id: customer id of the office the user worked at
--   named_offices: customer ids of all offices that these traces name, by id
WITH traces AS (
    SELECT user_id, month, user_office_id AS office_id, 1 AS choice, count(*) AS weight
    FROM marts.sale_shares
    GROUP BY ALL
    UNION ALL
    SELECT user_id, month, office_id, 2, count(*)
    FROM marts.running_commissions
    GROUP BY ALL
    UNION ALL
    SELECT user_id, month, office_id, 3, count(*)
    FROM marts.leads
    GROUP BY ALL
    UNION ALL
    SELECT user_id, month, office_id, 4, count(*)
    FROM marts.budgets
    WHERE valid_to_utc IS NULL
    GROUP BY ALL
)

SELECT
    user_id,
    month,
    arg_min(office_id, (choice, -weight, office_id)) AS office_id,
    array_to_string(list_sort(list(DISTINCT office_id)), ', ') AS named_offices
FROM traces
WHERE user_id IS NOT NULL AND office_id IS NOT NULL
GROUP BY ALL
