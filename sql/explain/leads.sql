-- What kinds of leads are counted, in which state, and which were removed?
-- One row per kind and state.
-- Parameters: office, user, first_month, month
SELECT
    way,
    lead_type,
    state,
    count(*) FILTER (NOT is_removed) AS leads,
    count(*) FILTER (is_removed) AS removed
FROM marts.leads
WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    AND (office_id = getvariable('office') OR user_id = getvariable('user'))
GROUP BY ALL
ORDER BY way, leads DESC, lead_type, state
