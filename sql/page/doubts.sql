-- Which figures of the pages are missing or doubtful?
-- One row per kind in marts.doubts, customer or office, and list of months, with the subjects of figures. office_ids is
-- null if any office may be affected. Of months that are no longer requested, only those of the two years that pages
-- show are here. A check names no office and no month; if it only warns, it is about the chain. The tax basis is left
-- out, because the top of a page states it. A failure is of kind 'failed again' if its months are loaded from an earlier
-- answer; read_at_utc is then the time of the oldest of these answers.
WITH page_doubts AS (
    SELECT
        CASE WHEN loaded.load_id IS NOT NULL THEN 'failed again' ELSE kind END AS kind,
        severity,
        subject,
        CASE WHEN kind <> 'check' THEN coalesce(earner_id, doubts.customer) END AS customer,
        CASE WHEN kind <> 'check' THEN doubts.month END AS month,
        since_utc,
        loaded.fetched_at_utc AS read_at_utc
    FROM marts.doubts AS doubts
    LEFT JOIN meta.months AS loaded ON kind = 'failed' AND (loaded.report, loaded.customer) = (doubts.report, doubts.customer)
        AND loaded.month IS NOT DISTINCT FROM doubts.month
    WHERE (subject IS NOT NULL OR numbers IS NULL)
        AND kind <> 'tax basis'
        AND (kind <> 'not refreshed' OR doubts.month > (SELECT max(month) - INTERVAL 24 MONTH FROM marts.office_month))
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
        min(page_doubts.read_at_utc) AS read_at_utc,
        page_doubts.kind = 'check' AND page_doubts.severity = 'warning' AS is_chain_only
    FROM page_doubts
    LEFT JOIN marts.offices AS offices ON offices.office_id = page_doubts.customer
    LEFT JOIN marts.customers AS customers ON customers.customer_id = page_doubts.customer
    LEFT JOIN (
        SELECT customer_id, list(DISTINCT office_id ORDER BY office_id) AS office_ids FROM marts.office_sources GROUP BY ALL
    ) AS customer_offices ON customer_offices.customer_id = page_doubts.customer
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
    is_chain_only,
    min(read_at_utc) AS read_at_utc
FROM doubts
GROUP BY kind, severity, customer, office_ids, months, is_chain_only
ORDER BY severity, kind, subjects, customer, months
