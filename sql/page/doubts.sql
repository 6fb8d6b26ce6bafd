-- Which figures of the pages are missing or doubtful?
-- One row per kind of meta.conditions, figures and office: without an office it may be about any, without figures about all. Kinds
-- that touch no figure are left out. Reports that disagree are one row per office, with the number of months. Of budgets,
-- which several reports bring, none is doubtful that another report brings on time. A check that warns says not of which office:
-- it is of the chain.
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
        CASE
            WHEN conditions.kind = 'not refreshed' THEN 'commission'
            ELSE coalesce(checked.concerns, measures.subject, subjects.subject)
        END AS subject
    FROM meta.conditions AS conditions
    LEFT JOIN subjects USING (report)
    LEFT JOIN meta.check_results AS checked ON conditions.kind = 'check' AND checked.name = conditions.cause
    LEFT JOIN measures
        ON conditions.kind = 'assumption'
        AND (measures.subject = subjects.subject OR conditions.report IS NULL)
        AND measures.measure NOT IN (SELECT measure FROM marts.budgets)
    WHERE conditions.kind NOT IN ('changed column', 'overlap', 'unpublished', 'not archived', 'not in the lake')
        AND NOT (
            conditions.kind = 'not refreshed'
            AND conditions.customer IN (
                SELECT customer FROM meta.freshness WHERE report = 'commission_office' AND state = 'fresh'
            )
        )
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
ANTI JOIN budgets_on_time AS others ON others.subject = found.subject AND others.customer = found.customer
LEFT JOIN marts.offices AS offices ON offices.office_id = found.customer
GROUP BY found.kind, found.severity, found.subject, offices.office_id
ORDER BY found.severity, found.kind, found.subject, office_name, offices.office_id
