-- What is wrong or unsure right now?
-- One row per cause: the conditions with the same cause_key in meta.conditions together, in the words of the condition
-- with the cause_place 1.
-- Columns:
--   kind: the kind of condition
--   severity: error or warning
--   condition_count: how many conditions have this cause
--   report: the report, if the problem is about one
--   customer: the requested customer, if the problem is about one
--   month: first day of the month, if the problem is about one
--   reports: the reports that the problem is about
--   customers: the customers that the problem is about
--   first_month: first day of the first month that the problem is about
--   last_month: first day of the last month that the problem is about
--   since_utc: since when the first condition has been true, in UTC; null if unknown
--   cause: the kind of error in a word, a state, or the name of the check, version or lake; null if the message says it
--   check_name: the check that found it, if one did
--   message: the issue, in a sentence
--   remedy: what to do about it; null if the message says it, or nothing is to be done
SELECT
    any_value(kind) AS kind,
    any_value(severity) AS severity,
    count(*) AS condition_count,
    CASE WHEN count(DISTINCT report) = 1 THEN any_value(report) END AS report,
    CASE WHEN count(DISTINCT customer) = 1 THEN any_value(customer) END AS customer,
    CASE WHEN count(DISTINCT month) = 1 THEN any_value(month) END AS month,
    string_agg(DISTINCT report, ', ' ORDER BY report) AS reports,
    string_agg(DISTINCT customer, ', ' ORDER BY customer) AS customers,
    min(month) AS first_month,
    max(month) AS last_month,
    min(since_utc) AS since_utc,
    any_value(cause) FILTER (cause_place = 1) AS cause,
    any_value(check_name) FILTER (cause_place = 1) AS check_name,
    any_value(error) FILTER (cause_place = 1) AS message,
    any_value(remedy) FILTER (cause_place = 1) AS remedy
FROM meta.conditions
GROUP BY cause_key
ORDER BY severity, kind, report, customer, month
