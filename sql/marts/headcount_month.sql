-- How many agents are active, and how many joined or left, month by month?
-- One row per level, member (office, brand, region or chain) and month for which the member has offices that should be
-- loaded, see marts.office_coverage.
-- An agent is a user with is_active in marts.user_month. An agent who stops being active counts as left or quiet in
-- the month after the last active one.
-- An agent who changed office never counts as left or joined. The agent counts as moved at level office, and also at
-- level brand or region if the new office has another brand or region.
-- So the active agents of a month are those of the month before, plus joined, back and moved in, less left, quiet and
-- moved out.
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
--   back_count: active agents who had been active in an earlier month, but not in the month before
--   left_count: agents active in the month before, and not since, who have left according to marts.users
--   quiet_count: agents active in the month before and not in this one, who were active again later or are not known
--     to have left
--   moved_in_count: active agents who were at another office, brand or region in the month before
--   moved_out_count: agents active in the month before who are active at another office, brand or region in this one
--   is_open: whether the month is not over, or its end has not been requested yet, for one of the offices. The counts
--     of an open month may still grow
--   missing_offices: names of offices whose user report is not loaded, or only in part, for the month or the month
--     before; null if none is missing
WITH loaded_offices AS (
    SELECT
        coverage.office_id,
        coalesce(coverage.office_name, coverage.office_id) AS office_name,
        coverage.month,
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
        levels.level,
        levels.member_id,
        levels.member_name,
        offices.month,
        bool_and(offices.is_known) AS is_known,
        bool_and(offices.is_followed) AS is_followed,
        bool_or(offices.is_open) AS is_open,
        string_agg(offices.office_name, ', ' ORDER BY offices.office_name) FILTER (NOT offices.is_followed) AS missing_offices
    FROM loaded_offices AS offices
    INNER JOIN marts.office_levels AS levels USING (office_id)
    GROUP BY levels.level, levels.member_id, levels.member_name, offices.month
),

agents AS (
    SELECT
        coalesce(levels.level, 'chain') AS level,
        levels.member_id,
        user_months.user_id,
        user_months.month,
        user_months.first_active_month,
        user_months.last_active_month
    FROM marts.user_month AS user_months
    LEFT JOIN marts.office_levels AS levels USING (office_id)
    WHERE user_months.is_active
),

agents_followed AS (
    SELECT
        level,
        month,
        now.member_id,
        before.member_id AS member_id_before,
        now.last_active_month IS NOT NULL AS is_here,
        before.last_active_month IS NOT NULL AS was_here,
        is_here AND was_here AND now.member_id IS DISTINCT FROM before.member_id AS has_moved,
        NOT was_here AND now.first_active_month = month AS has_joined,
        NOT is_here AND coalesce(users.left_after_month < month, false) AS has_left
    FROM agents AS now
    FULL JOIN (SELECT * REPLACE ((month + INTERVAL 1 MONTH)::DATE AS month) FROM agents) AS before
        USING (level, user_id, month)
    LEFT JOIN marts.users AS users USING (user_id)
),

-- an agent counts at the member with the agent now (an arrival) and at the one of the month before
flows AS (
    SELECT
        level,
        month,
        CASE WHEN is_arrival THEN member_id ELSE member_id_before END AS member_id,
        count(*) FILTER (is_arrival) AS active,
        count(*) FILTER (is_arrival AND has_joined) AS joined,
        count(*) FILTER (is_arrival AND NOT (was_here OR has_joined)) AS back,
        count(*) FILTER (is_arrival AND has_moved) AS moved_in,
        count(*) FILTER (NOT is_arrival AND has_left) AS leavers,
        count(*) FILTER (NOT is_arrival AND NOT (is_here OR has_left)) AS quiet,
        count(*) FILTER (NOT is_arrival AND has_moved) AS moved_out
    FROM agents_followed
    CROSS JOIN (SELECT unnest([true, false]) AS is_arrival)
    WHERE CASE WHEN is_arrival THEN is_here ELSE was_here END
    GROUP BY ALL
)

SELECT
    members.level,
    members.member_id,
    members.member_name,
    members.month,
    CASE WHEN members.is_known THEN coalesce(flows.active, 0) END AS active_agent_count,
    CASE WHEN members.is_followed THEN coalesce(flows.joined, 0) END AS joined_count,
    CASE WHEN members.is_followed THEN coalesce(flows.back, 0) END AS back_count,
    CASE WHEN members.is_followed THEN coalesce(flows.leavers, 0) END AS left_count,
    CASE WHEN members.is_followed THEN coalesce(flows.quiet, 0) END AS quiet_count,
    CASE WHEN members.is_followed THEN coalesce(flows.moved_in, 0) END AS moved_in_count,
    CASE WHEN members.is_followed THEN coalesce(flows.moved_out, 0) END AS moved_out_count,
    members.is_open,
    members.missing_offices
FROM members
LEFT JOIN flows
    ON (flows.level, flows.month, flows.member_id) IS NOT DISTINCT FROM (members.level, members.month, members.member_id)
ORDER BY members.level, members.member_id, members.month
