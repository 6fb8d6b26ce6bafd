-- Which figures of the pages are missing or doubtful?
-- One row per kind in marts.doubts, customer or office, and list of months, with the subjects of figures. office_ids is
-- null if any office may be affected. Of months that are no longer requested, only those of the two years that pages
-- show are here. A check names no office and no month; if it only warns, it is about the chain. The tax basis is left
-- out, because the top of a page states it.
WITH page_doubts AS (
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

customer_offices AS (
    SELECT customer_id, list(DISTINCT office_id ORDER BY office_id) AS office_ids
    FROM marts.office_sources
    GROUP BY customer_id
),

doubts AS (
    SELECT
        page_doubts.kind,
        page_doubts.severity,
        page_doubts.subject,
        coalesce(any_value(offices.office_name), any_value(customers.customer_name), page_doubts.customer) AS customer,
        coalesce(
            CASE WHEN count(offices.office_id) > 0 THEN [page_doubts.customer] END, any_value(customer_offices.office_ids)
        ) AS office_ids,
        coalesce(list(DISTINCT page_doubts.month ORDER BY page_doubts.month) FILTER (page_doubts.month IS NOT NULL), []) AS months,
        min(page_doubts.since_utc) AS since_utc,
        page_doubts.kind = 'check' AND page_doubts.severity = 'warning' AS is_chain_only
    FROM page_doubts
    LEFT JOIN marts.offices AS offices ON offices.office_id = page_doubts.customer
    LEFT JOIN marts.customers AS customers ON customers.customer_id = page_doubts.customer
    LEFT JOIN customer_offices ON customer_offices.customer_id = page_doubts.customer
    GROUP BY page_doubts.kind, page_doubts.severity, page_doubts.subject, page_doubts.customer
)

SELECT
    kind,
    severity,
    list(coalesce(subject, 'all') ORDER BY subject) AS subjects,
    customer,
    office_ids,
    months,
    min(since_utc) AS since_utc,
    is_chain_only
FROM doubts
GROUP BY kind, severity, customer, office_ids, months, is_chain_only
ORDER BY severity, kind, subjects, customer, months
