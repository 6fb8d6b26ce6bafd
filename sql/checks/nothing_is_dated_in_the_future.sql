-- Are loads dated later than now, because the clock of this machine was ahead?
-- One row per report and customer with loaded months dated more than a minute later than now. Set the clock right; then
-- `sync --refresh` dates them again. Coming months are left out, because it does not request all of them.
-- Severity: warning
-- Concerns: commission
SELECT report, customer, count(*) AS month_count, max(fetched_at_utc) AS latest_fetched_at_utc
FROM meta.months, meta.current_moment
WHERE fetched_at_utc > now_utc + INTERVAL 1 MINUTE AND (month > now_utc) IS NOT TRUE
GROUP BY report, customer
