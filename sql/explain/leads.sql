-- What kinds of leads are counted, in which state, and which were removed?
-- One row per kind and state.
-- Parameters: kind, id, first_month, month, measure, way
SELECT
    way,
    lead_type,
    state,
    count(*) FILTER (NOT is_removed) AS leads,
    count(*) FILTER (is_removed) AS removed
FROM marts.leads
WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    AND (way = getvariable('way') OR (getvariable('measure') = 'removed_lead_count' AND is_removed))
    AND CASE getvariable('kind') WHEN 'office' THEN office_id = getvariable('id') WHEN 'user' THEN user_id = getvariable('id') END
GROUP BY ALL
ORDER BY way, leads DESC, lead_type, state
