-- What kinds of leads are counted, in which state, and which were removed?
-- One row per kind and state.
-- Parameters: kind, id, month, measure
SELECT
    way,
    lead_type,
    state,
    count(*) FILTER (NOT is_removed) AS leads,
    count(*) FILTER (is_removed) AS removed
FROM marts.leads
WHERE month = getvariable('month')::DATE
    AND (getvariable('measure') = replace(way, ' ', '_') || '_count' OR (getvariable('measure') = 'removed_lead_count' AND is_removed))
    AND getvariable('kind') <> 'chain' AND is_asked_for(office_id, user_id)
GROUP BY ALL
ORDER BY way, leads DESC, lead_type, state
