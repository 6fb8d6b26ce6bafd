-- Which figures of the pages are missing or doubtful?
-- One row per kind of meta.conditions, customer, with the offices of which it answers (null: perhaps any), and months, with the
-- figures. Reports that disagree, and figures of the two years that
-- pages show which nobody reads any more, are one row per office. Of budgets,
-- which several reports bring, none is doubtful that another report brings on time. A check that warns says not of which office:
-- it is of the chain. As long as nobody declares whether VAT is in commissions, all of them may be another; no report is wrong for it.
WITH subjects AS (
    SELECT report, subject
    FROM subjects_of_reports()
    WHERE subject IS NOT NULL
),

measures AS (
    FROM (VALUES ('budgets', 'commission'), ('budgets_of_homes', 'sold estates')) AS _(subject, measure)
),

budgets_on_time AS (
    SELECT subjects.subject, freshness.customer
    FROM meta.freshness AS freshness
    INNER JOIN subjects USING (report)
    INNER JOIN measures USING (subject)
    ANTI JOIN meta.conditions AS conditions
        ON conditions.report = freshness.report AND conditions.customer = freshness.customer
    WHERE freshness.state = 'fresh'
),

found AS (
    SELECT
        conditions.kind,
        conditions.severity,
        conditions.customer,
        conditions.month,
        conditions.since_utc,
        coalesce(checked.concerns, measures.subject, subjects.subject) AS subject
    FROM meta.conditions AS conditions
    LEFT JOIN subjects USING (report)
    LEFT JOIN meta.check_results AS checked ON conditions.kind = 'check' AND checked.name = conditions.cause
    LEFT JOIN measures
        ON conditions.kind = 'assumption'
        AND (measures.subject = subjects.subject OR conditions.report IS NULL)
        AND measures.measure NOT IN (SELECT measure FROM marts.budgets)
    WHERE conditions.is_of_figures
        AND conditions.kind <> 'not refreshed'  -- which is of offices, below
        AND (
            measures.subject IS NOT NULL
            OR (
                conditions.kind <> 'assumption'
                AND (subjects.subject IS NOT NULL OR conditions.report IS NULL)
                AND coalesce(checked.concerns, '') <> 'nothing'
            )
        )
    UNION ALL BY NAME
    SELECT 'reports differ' AS kind, 'warning' AS severity, office_id AS customer, month, 'commission' AS subject
    FROM marts.disagreements
    UNION ALL BY NAME
    SELECT 'not refreshed' AS kind, 'warning' AS severity, office_id AS customer, month, subjects.subject
    FROM marts.office_sources AS sources
    INNER JOIN subjects USING (report)
    WHERE NOT sources.is_current
        AND sources.source_state NOT IN ('access refused', 'login refused')  -- a right lost, and a failure
        AND sources.month > (SELECT max(month) - INTERVAL 24 MONTH FROM marts.office_month)
        AND (
            NOT starts_with(subjects.subject, 'budgets')
            OR (report, office_id, month) IN (SELECT (report, office_id, month) FROM marts.budgets WHERE valid_to_utc IS NULL)
        )
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
    ANTI JOIN budgets_on_time AS others ON others.subject = found.subject AND others.customer = found.customer
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
UNION ALL
SELECT 'basis', 'well', ['commission', 'agents', 'sales'], NULL, NULL, [], NULL, false
WHERE NOT EXISTS (FROM meta.tax_basis WHERE commission_vat <> 'unknown')
    AND EXISTS (FROM marts.office_month WHERE commission IS NOT NULL)
ORDER BY severity, kind, subjects, customer, months
