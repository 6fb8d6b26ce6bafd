-- What is not as it should be of a report of a customer, or of all of a customer?
-- One row per kind, report, customer and month: the one rule for each. Of what is switched off there is none.
-- Columns:
--   kind: failed, held back, shut out (each of several reports ever asked for is refused: a wrong id, or no rights
--     at all), right lost (answered before, refused now), no right, late or never read
--   severity: error or warning
--   report: name of the report; null where it is about all of a customer
--   customer: the customer that was asked
--   month: first day of the month, where it is about one
--   since_utc: since when it is so, in UTC; null where nobody can say
--   cause: the kind of error in a word, or the state of meta.freshness
--   error: why it failed, in a sentence
--   remedy: what to do about it, where the error says so
--   last_try: how the last of several tries ended, like answered 500
--   login: where the login is set that was refused
WITH asked AS (
    SELECT freshness.*, access.denied_at_utc
    FROM meta.freshness AS freshness
    LEFT JOIN meta.access AS access USING (report, customer)
    WHERE state <> 'switched off' AND NOT (state = 'never read' AND last_failure_utc IS NULL)
),

shut_out AS (
    SELECT customer, count(*) AS reports, max(denied_at_utc) AS since_utc
    FROM asked
    GROUP BY customer
    HAVING count(*) > 1 AND bool_and(state = 'no access')
)

SELECT status AS kind, 'error' AS severity, report, customer, month, since_utc, error_kind AS cause, error, remedy, last_try, login
FROM meta.open_failures
UNION ALL
SELECT 'shut out', 'error', NULL, customer, NULL, since_utc, 'Forbidden', NULL, NULL, NULL, NULL
FROM shut_out
UNION ALL
SELECT
    CASE WHEN last_success_utc IS NULL THEN 'no right' ELSE 'right lost' END,
    CASE WHEN last_success_utc IS NULL THEN 'warning' ELSE 'error' END,
    report, customer, NULL, denied_at_utc, 'Forbidden', NULL, NULL, NULL, NULL
FROM asked
ANTI JOIN shut_out USING (customer)
WHERE state = 'no access'
UNION ALL
SELECT
    CASE WHEN last_success_utc IS NULL THEN 'never read' ELSE 'late' END,
    'error', report, customer, NULL, due_utc, state, NULL, NULL, NULL, NULL
FROM meta.freshness AS freshness
ANTI JOIN meta.open_failures AS failed USING (report, customer)
WHERE is_late AND state <> 'no access'
