-- How fresh is each report?
-- One row per report and customer.
SELECT
    report,
    customer,
    newest_held_month,
    last_success_utc,
    due_utc,
    state
FROM meta.freshness
ORDER BY report, customer
