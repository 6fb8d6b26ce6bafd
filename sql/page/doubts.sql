-- Which figures of the pages are missing or doubtful?
-- One row per kind of meta.conditions or meta.problems, figures and office: without an office it may be about any, without
-- figures about all. Two reports that differ are one row per office, with the number of months. Of budgets, which several reports
-- bring, none is doubtful that another report brings on time. A check that warns says not of which office: it is of the chain.
WITH subjects AS (
    FROM (VALUES
        ('commission_office', 'commission'),
        ('commission_user', 'agents'),
        ('sales', 'sales'),
        ('tips_and_leads', 'leads'),
        ('users', 'directory'),
        ('budget_commission', 'budgets'),
        ('office_budget_commission', 'budgets'),
        ('user_budget_commission', 'budgets'),
        ('budget_sold_estates', 'budgets_of_homes'),
        ('office_budget_estate', 'budgets_of_homes'),
        ('user_budget_estate', 'budgets_of_homes')
    ) AS _(report, subject)
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
        ON conditions.report = freshness.report AND conditions.customer = freshness.customer AND conditions.severity = 'error'
    WHERE freshness.state = 'fresh'
),

found AS (
    SELECT conditions.kind, conditions.severity, subjects.subject, conditions.customer, conditions.month, conditions.since_utc
    FROM meta.conditions AS conditions
    LEFT JOIN subjects USING (report)
    ANTI JOIN budgets_on_time AS others ON others.subject = subjects.subject AND others.customer = conditions.customer
    WHERE (subjects.subject IS NOT NULL OR conditions.report IS NULL)
        AND conditions.kind NOT IN (
            'assumption', 'changed column', 'changes unknown', 'check', 'not refreshed', 'overlap', 'quarantine',
            'unpublished'
        )
    UNION ALL
    SELECT problems.kind, problems.severity, subjects.subject, problems.customer, problems.month, problems.since_utc
    FROM meta.problems AS problems
    INNER JOIN subjects USING (report)
    WHERE problems.kind IN ('quarantine', 'changes unknown')
    UNION ALL
    SELECT problems.kind, problems.severity, measures.subject, NULL, NULL, problems.since_utc
    FROM meta.problems AS problems
    LEFT JOIN subjects USING (report)
    INNER JOIN measures ON measures.subject = subjects.subject OR problems.report IS NULL
    WHERE problems.kind = 'assumption' AND measures.measure NOT IN (SELECT measure FROM marts.budgets)
    UNION ALL
    SELECT problems.kind, problems.severity, 'commission', problems.customer, NULL, problems.since_utc
    FROM meta.problems AS problems
    WHERE problems.kind = 'not refreshed'
    UNION ALL
    SELECT
        problems.kind,
        problems.severity,
        checked.concerns,
        NULL,
        NULL,
        problems.since_utc
    FROM meta.problems AS problems
    INNER JOIN meta.check_results AS checked ON checked.name = problems.check_name
    WHERE problems.kind = 'check' AND checked.concerns <> 'nothing'
    UNION ALL
    SELECT DISTINCT 'reports differ', 'warning', 'commission', office_id, month, NULL
    FROM marts.reconciliation
    WHERE NOT is_reconciled
)

SELECT
    found.kind,
    found.severity,
    found.subject,
    offices.office_id,
    any_value(offices.office_name) AS office_name,
    count(DISTINCT found.month) AS months,
    min(found.month) AS first_month,
    max(found.month) AS last_month,
    min(found.since_utc) AS since_utc,
    found.kind = 'check' AND found.severity = 'warning' AS is_of_chain
FROM found
LEFT JOIN marts.offices AS offices ON offices.office_id = found.customer
GROUP BY found.kind, found.severity, found.subject, offices.office_id
ORDER BY found.severity, found.kind, found.subject, office_name, offices.office_id
