-- How fresh each report of each customer is; late means no success for the hours of meta.deadlines.
--
-- A report that was read before and is denied now is late if its last success is too old; one that was always denied
-- (403) is not expected. A report whose login was denied (401) in its latest try is not fresh, however new its last
-- success is. A report without months that is requested by id has no due time: a nightly run may have no id to request.
-- Columns:
--   report: name of the report
--   customer: the requested customer
--   newest_held_month: first day of the newest month loaded; null for a report without months
--   held_months: how many months are loaded
--   last_success_utc: when an answer was last loaded, in UTC; null if none ever was
--   due_utc: when the next answer is due, and the report late without it, in UTC; null if none is expected, as for a
--     report without months that is requested by id
--   last_failure_utc: when a request or load last failed, in UTC
--   last_error: why it failed then
--   state: its state now: fresh, late, never read, no access (denied since its last success), login refused (401 in its
--     latest try) or switched off (the customer or the report; also a report requested only on demand)
--   is_late: whether the report needs attention: its due time has passed, even if it is denied; or it is expected, was
--     never read, and is not denied (403). False if it is switched off
CREATE OR REPLACE VIEW meta.freshness AS
WITH tries AS (
    SELECT
        report,
        customer,
        max(fetched_at_utc) FILTER (status IN ('loaded', 'superseded')) AS last_success_utc,
        max(fetched_at_utc) FILTER (status NOT IN ('loaded', 'superseded')) AS last_failure_utc,
        arg_max(error, fetched_at_utc) FILTER (status NOT IN ('loaded', 'superseded')) AS last_error,
        arg_max(coalesce(error_kind, ''), fetched_at_utc) = 'Unauthorized' AS is_login_refused
    FROM meta.loads
    WHERE status <> 'landed'
    GROUP BY ALL
),

held AS (
    SELECT report, customer, max(month) AS newest_held_month, count(month) AS held_months
    FROM meta.months
    GROUP BY ALL
),

pairs AS (
    SELECT report, customer FROM tries
    UNION  -- not with meta.access: `brokerbi doctor` may have requested a customer with a wrong id
    SELECT report, customer FROM meta.reports, meta.customers
    WHERE is_on AND is_active AND is_awaited IS DISTINCT FROM false
),

judged AS (
    SELECT
        report,
        customer,
        newest_held_month,
        coalesce(held_months, 0) AS held_months,
        last_success_utc,
        last_failure_utc,
        last_error,
        CASE WHEN is_awaited IS DISTINCT FROM false THEN last_success_utc + to_hours(late_after_hours) END AS due_utc,
        due_utc < now_utc AS is_overdue,
        CASE
            WHEN NOT (coalesce(is_on, true) AND coalesce(is_active, true)) THEN 'switched off'
            WHEN denied_at_utc IS NOT NULL THEN 'no access'
            WHEN is_login_refused THEN 'login refused'
            WHEN last_success_utc IS NULL AND is_awaited IS DISTINCT FROM false THEN 'never read'
            WHEN is_overdue THEN 'late'
            ELSE 'fresh'
        END AS state
    FROM pairs
    LEFT JOIN tries USING (report, customer)
    LEFT JOIN held USING (report, customer)
    LEFT JOIN meta.access USING (report, customer)
    LEFT JOIN meta.reports USING (report)
    LEFT JOIN meta.customers USING (customer)
    CROSS JOIN meta.current_moment
    CROSS JOIN meta.deadlines
)

SELECT
    report,
    customer,
    newest_held_month,
    held_months,
    last_success_utc,
    CASE WHEN state <> 'switched off' THEN due_utc END AS due_utc,
    last_failure_utc,
    last_error,
    state,
    state IN ('late', 'never read') OR (state = 'login refused' AND last_success_utc IS NULL) OR (
        state IN ('no access', 'login refused') AND is_overdue
    ) IS TRUE AS is_late
FROM judged;
