-- How fresh is each report?
-- One row per report and customer; nothing is awaited of a report that is switched off.
SELECT
    report,
    customer,
    newest_held_month,
    last_success_utc,
    due_utc,
    state,
    state <> 'switched off' AS is_awaited,
    is_late OR state IN ('login refused', 'no access') AS is_wrong
FROM meta.freshness
ORDER BY report, customer
