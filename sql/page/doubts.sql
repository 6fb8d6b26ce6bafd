-- Which figures of the pages are missing or doubtful?
-- One row per kind of marts.doubts, customer (with its offices; null if any may be concerned) or office, and months,
-- with the figures; of customers that are no longer read, only the two years that pages show. Checks name no office
-- here: a check that warns concerns the chain. The head of each page states the tax basis.
WITH found AS (
    SELECT
        kind,
        severity,
        subject,
        CASE WHEN kind <> 'check' THEN coalesce(earner_id, customer) END AS customer,
        CASE WHEN kind <> 'check' THEN month END AS month,
        since_utc
    FROM marts.doubts
    WHERE (subject IS NOT NULL OR numbers IS NULL)
        AND kind <> 'tax basis'
        AND (kind <> 'not refreshed' OR month > (SELECT max(month) - INTERVAL 24 MONTH FROM marts.office_month))
),

answered AS (
    SELECT customer_id, list(DISTINCT office_id ORDER BY office_id) AS office_ids
    FROM marts.office_sources
    GROUP BY customer_id
),

doubts AS (
    SELECT
        found.kind,
        found.severity,
        found.subject,
        coalesce(any_value(offices.office_name), any_value(customers.customer_name), found.customer) AS customer,
        coalesce(
            CASE WHEN count(offices.office_id) > 0 THEN [found.customer] END, any_value(answered.office_ids)
        ) AS office_ids,
        coalesce(list(DISTINCT found.month ORDER BY found.month) FILTER (found.month IS NOT NULL), []) AS months,
        min(found.since_utc) AS since_utc,
        found.kind = 'check' AND found.severity = 'warning' AS is_of_chain
    FROM found
    LEFT JOIN marts.offices AS offices ON offices.office_id = found.customer
    LEFT JOIN marts.customers AS customers ON customers.customer_id = found.customer
    LEFT JOIN answered ON answered.customer_id = found.customer
    GROUP BY found.kind, found.severity, found.subject, found.customer
)

SELECT
    kind,
    severity,
    list(coalesce(subject, 'all') ORDER BY subject) AS subjects,
    customer,
    office_ids,
    months,
    min(since_utc) AS since_utc,
    is_of_chain
FROM doubts
GROUP BY kind, severity, customer, office_ids, months, is_of_chain
ORDER BY severity, kind, subjects, customer, months
