-- How many agents are at work, and who joined or left?
-- One row per page and month: the newest thirteen that are over. Null if the user report of an office is not loaded.
SELECT
    counted.level AS kind,
    coalesce(counted.member_id, '') AS scope,
    counted.month,
    counted.active_agent_count AS agents,
    counted.joined_count AS joined,
    counted.back_count AS back,
    counted.left_count AS gone,
    counted.quiet_count AS quiet,
    counted.moved_in_count AS moved_in,
    counted.moved_out_count AS moved_out
FROM marts.headcount_month AS counted
INNER JOIN marts.chain_month AS newest ON newest.is_last_over
WHERE counted.month BETWEEN newest.month - INTERVAL 12 MONTH AND newest.month
    AND (counted.level = 'chain' OR counted.member_id IS NOT NULL)
    AND counted.active_agent_count IS NOT NULL
ORDER BY counted.level, scope, counted.month DESC
