-- What is wrong or unsure?
-- One row per open problem: the first two hundred, errors first; in_all counts every one.
SELECT
    kind, severity, condition_count, reports, customers, first_month, last_month, since_utc, message, remedy,
    count(*) OVER () AS in_all
FROM meta.problems
ORDER BY severity, kind, reports, customers, first_month, message
LIMIT 200
