-- How many agents are active, and how many joined or left, month by month?
-- One row per level, member (office, brand, region or chain) and month for which the member has offices that should be
-- loaded, see marts.office_coverage.
-- An agent is a user with is_active in marts.user_office_month: an agent who earned at two offices counts at both, and
-- once in their brand, region and chain. An agent who stops being active counts as left, quiet or moved out in the month
-- after the last active one.
-- As on pages, an agent moves if the last month at the old office is not after the first month at the new one, even if
-- months without activity lie between them. The agent then counts as moved at level office, and also at level brand or
-- region if the new office has another brand or region.
-- The active agents of a month are those of the month before, plus joined, back and moved in, less left, quiet and moved
-- out. There is one exception: an agent who earns at an office again after beginning at another one moves at neither. Such
-- an agent of two offices is active at both in a month with earnings at both, else at the one that has them.
-- A count is null if the user report of one of the offices is not loaded in full for the month. All counts except
-- active_agent_count are also null if it is not loaded in full for the month before.
-- Agents of an unknown office count only in the chain.
-- Example: an agent moves in May from an office in the north to one in the south, under the same brand. In May the
-- agent counts as moved out at the first office and in the north, as moved in at the second office and in the south,
-- and as neither in the brand and the chain.
-- Key: level, member_id, month
-- Columns:
--   level: office, brand, region or chain; never add up two levels
--   member_id: customer id of the office, or the brand or region. Null in two cases: for the chain; for an unknown
--     brand or region
--   member_name: name of the office, brand or region
--   month: first day of the month
--   active_agent_count: agents active in the month
--   joined_count: active agents who were never active before
--   back_count: active agents who had been active in an earlier month but not in the month before, and did not move in
--   left_count: agents active in the month before, and not since, who have left according to marts.users
--   quiet_count: agents active in the month before and not in this one, who did not move out, and were active again
--     later or are not known to have left
--   moved_in_count: agents in their first month at the office, brand or region, who moved there from another one
--   moved_out_count: agents whose last month at the office, brand or region was the month before, and who moved to
--     another one
--   is_open: whether the month is not over, or its end has not been requested yet, for one of the offices. The counts
--     of an open month may still grow
--   missing_offices: names of offices whose user report is not loaded, or only in part, for the month or the month
--     before; null if none is missing
WITH loaded_offices AS (
    SELECT
        coverage.office_id, coverage.month,
        coalesce(coverage.office_name, coverage.office_id) AS office_name,
        coalesce(NOT now.is_partial, false) AS is_known,
        is_known AND coalesce(NOT before.is_partial, false) AS is_followed,
        coalesce(now.is_growing, false) AS is_open
    FROM marts.office_coverage AS coverage
    LEFT JOIN marts.office_sources AS now
        ON now.report = 'commission_user' AND now.office_id = coverage.office_id AND now.month = coverage.month
    LEFT JOIN marts.office_sources AS before
        ON before.report = 'commission_user'
        AND before.office_id = coverage.office_id
        AND before.month = (coverage.month - INTERVAL 1 MONTH)::DATE
),

members AS (
    SELECT
        levels.level, levels.member_id, levels.member_name, offices.month,
        bool_and(offices.is_known) AS is_known,
        bool_and(offices.is_followed) AS is_followed,
        bool_or(offices.is_open) AS is_open,
        string_agg(offices.office_name, ', ' ORDER BY offices.office_name) FILTER (NOT offices.is_followed) AS missing_offices
    FROM loaded_offices AS offices
    INNER JOIN marts.office_levels AS levels USING (office_id)
    GROUP BY levels.level, levels.member_id, levels.member_name, offices.month
),

-- Each agent at the members at which the agent is active in the month (is_here) or was in the month before (was_here).
agents AS (
    SELECT
        coalesce(levels.level, 'chain') AS level, levels.member_id, users.user_id,
        (users.month + to_months(months_later))::DATE AS month,
        any_value(users.first_active_month) AS began_month,
        bool_or(months_later = 0) AS is_here, bool_or(months_later = 1) AS was_here
    FROM marts.user_office_month AS users
    CROSS JOIN (SELECT unnest([0, 1]) AS months_later)
    LEFT JOIN marts.office_levels AS levels USING (office_id)
    WHERE users.is_active
    GROUP BY ALL
),

spans AS (  -- end_month is the month after the agent's last active one at the member
    SELECT *, min(month) OVER of_member AS first_month, max(month) OVER of_member AS end_month
    FROM agents
    WINDOW of_member AS (PARTITION BY level, member_id, user_id)
),

moves AS (
    SELECT
        *, bool_or(is_here) OVER of_user AS is_active, bool_or(was_here) OVER of_user AS was_active,
        month = first_month
        AND max(end_month) OVER (PARTITION BY level, user_id ORDER BY first_month RANGE UNBOUNDED PRECEDING EXCLUDE GROUP)
            <= month + INTERVAL 1 MONTH AS is_moved_in,
        month = end_month
        AND min(first_month) OVER (PARTITION BY level, user_id ORDER BY end_month DESC RANGE UNBOUNDED PRECEDING EXCLUDE GROUP)
            >= month - INTERVAL 1 MONTH AS is_moved_out
    FROM spans
    WINDOW of_user AS (PARTITION BY level, user_id, month)
),

flows AS (
    SELECT
        level, month, member_id,
        count(*) FILTER (is_here) AS active,
        count(*) FILTER (is_here AND NOT was_active AND began_month = month) AS joined,
        count(*) FILTER (is_here AND NOT was_active AND began_month < month AND is_moved_in IS NOT TRUE) AS back,
        count(*) FILTER (was_here AND NOT is_active AND users.left_after_month < month) AS leavers,
        count(*) FILTER (was_here AND NOT is_active AND coalesce(users.left_after_month >= month, true) AND is_moved_out IS NOT TRUE) AS quiet,
        count(*) FILTER (is_moved_in) AS moved_in, count(*) FILTER (is_moved_out) AS moved_out
    FROM moves
    LEFT JOIN marts.users AS users USING (user_id)
    GROUP BY ALL
)

SELECT
    members.level, members.member_id, members.member_name, members.month,
    CASE WHEN members.is_known THEN coalesce(flows.active, 0) END AS active_agent_count,
    CASE WHEN members.is_followed THEN coalesce(flows.joined, 0) END AS joined_count,
    CASE WHEN members.is_followed THEN coalesce(flows.back, 0) END AS back_count,
    CASE WHEN members.is_followed THEN coalesce(flows.leavers, 0) END AS left_count,
    CASE WHEN members.is_followed THEN coalesce(flows.quiet, 0) END AS quiet_count,
    CASE WHEN members.is_followed THEN coalesce(flows.moved_in, 0) END AS moved_in_count,
    CASE WHEN members.is_followed THEN coalesce(flows.moved_out, 0) END AS moved_out_count,
    members.is_open, members.missing_offices
FROM members
LEFT JOIN flows ON (flows.level, flows.month, flows.member_id) IS NOT DISTINCT FROM (members.level, members.month, members.member_id)
ORDER BY members.level, members.member_id, members.month
