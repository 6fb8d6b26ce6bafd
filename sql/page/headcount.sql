-- How many agents are at work, and who joined or left?
-- One row per page and month: the newest thirteen that are over. A month has no row if the user report of an office is
-- not loaded in full for it. All counts except agents are null if one is not loaded in full for the month before.
SELECT
    headcount.level AS kind,
    coalesce(headcount.member_id, '') AS scope,
    headcount.month,
    headcount.active_agent_count AS agents,
    headcount.joined_count AS joined,
    headcount.back_count AS back,
    headcount.left_count AS gone,
    headcount.quiet_count AS quiet,
    headcount.moved_in_count AS moved_in,
    headcount.moved_out_count AS moved_out
FROM marts.headcount_month AS headcount
INNER JOIN marts.chain_month AS newest ON newest.is_last_over
WHERE headcount.month BETWEEN newest.month - INTERVAL 12 MONTH AND newest.month
    AND (headcount.level = 'chain' OR headcount.member_id IS NOT NULL)
    AND headcount.active_agent_count IS NOT NULL
ORDER BY headcount.level, scope, headcount.month DESC
