-- How was each lead when it was first read, and when it was not new any more?
-- One row per incoming lead or tip that was read within two days of being created, and one more when it was first read
-- with another state than New, or as removed. What was read later, as in a backfill, says nothing of how soon
-- somebody answered. marts.lead_response makes hours of it.
-- Kind: table
-- Columns:
--   version: 1 as first read, 2 as read when it was no longer new
--   state: state of the lead then, as the service words it
--   is_removed: whether it was listed as removed then
--   read_at_utc: when the service gave that answer
WITH kept AS (
    SELECT way, lead_id, count(*) AS version_count, bool_and(state = 'New' AND NOT is_removed) AS is_new
    FROM meta.lead_states
    GROUP BY ALL
),

found AS (
    SELECT
        leads.way,
        leads.lead_id,
        coalesce(kept.version_count, 0) + 1 AS version,
        leads.state,
        leads.is_removed,
        held.fetched_at_utc AS read_at_utc
    FROM marts.leads AS leads
    INNER JOIN staging.months AS held
        ON held.report = 'tips_and_leads' AND held.customer_id = leads._customer AND held.month = leads.month
    LEFT JOIN kept USING (way, lead_id)
    WHERE leads.way <> 'outgoing lead' AND leads.lead_id IS NOT NULL AND leads.state IS NOT NULL
        AND CASE
            WHEN kept.version_count IS NULL THEN held.fetched_at_utc < leads.created_at + INTERVAL 2 DAY
            ELSE kept.is_new AND (leads.state <> 'New' OR leads.is_removed)
        END
)

SELECT way, lead_id, version, state, is_removed, read_at_utc
FROM (SELECT * FROM meta.lead_states UNION ALL BY NAME SELECT * FROM found)
