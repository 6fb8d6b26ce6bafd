-- What is wrong or unsure?
-- One row per open problem: the first two hundred, errors first; in_all counts every one.
SELECT kind, severity, report, customer, month, since_utc, message, remedy, count(*) OVER () AS in_all
FROM meta.problems
ORDER BY severity, kind, report, customer, month, message
LIMIT 200
