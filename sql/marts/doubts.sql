-- Which figures may be missing or doubtful, and why?
-- One row per condition of meta.conditions that is about figures. The condition of a check has one row per office,
-- user and month that the check found.
-- Three kinds of rows are not in meta.conditions:
-- 1. reports differ: one row per office, month in which reports disagree, and subject (commission and agents);
-- 2. not refreshed: one row per office, report and month that is no longer requested and was last read less than a year
-- after its start, unless the office had closed. If access is denied, there is no such row, because meta.conditions has
-- one;
-- 3. tax basis: one row per loaded report with commissions, if VAT is not declared.
-- A null in subject, report, measure, customer, earner_id or month means that any value may be affected.
-- A budget is not doubtful if another report of the same customer has it on time.
-- Kind: view
-- Key: kind, subject, report, measure, customer, earner_id, month, error
-- Columns:
--   kind: the kind of condition, as in meta.kinds; or "reports differ" or "tax basis"
--   severity: error, warning, or well for a fact that is no fault
--   numbers: the numbers that the condition concerns, as in meta.subjects
--   subject: the figures of pages that the condition is about, as in meta.subjects
--   report: the report that the condition is about
--   measure: the measure of the rows that a check found
--   customer: the requested customer
--   earner_id: id of the office, or for some checks of the user, that the condition is about
--   month: first day of the month
--   is_of_growing: whether the condition is only about months that are not over
--   since_utc: since when the condition has been true, in UTC; null if unknown
--   error: the issue, in words. For reports that differ, it is the likely reason; for months that are no longer
--     requested, their source_state
--   remedy: what to do about it. Null in two cases: if nothing is to be done; if the error states it
WITH conditions AS MATERIALIZED (FROM meta.conditions),  -- because it is read three times

measures AS (
    FROM (VALUES ('budgets', 'commission'), ('budgets_of_homes', 'sold estates')) AS _(subject, measure)
),

offending_rows AS (
    SELECT name, question, unnest(from_json(subjects, '["JSON"]')) AS offence
    FROM meta.check_results
    WHERE row_count > 0 AND message = ''
),

check_findings AS (
    SELECT
        checks.name,
        coalesce(measures.subject, checks.concerns) AS concerns,
        offending_rows.question,
        offence ->> 'measure' AS measure,
        offence ->> 'report' AS report,
        coalesce(offence ->> 'office_id', offence ->> 'earner_id') AS earner_id,
        TRY_CAST(offence ->> 'month' AS DATE) AS month
    FROM meta.check_results AS checks
    LEFT JOIN offending_rows USING (name)
    LEFT JOIN measures ON checks.concerns = 'budgets' AND measures.measure = offence ->> 'measure'
    WHERE coalesce(checks.concerns, '') <> 'nothing'
),

all_doubts AS (
    SELECT
        conditions.* REPLACE (
            coalesce(check_findings.report, conditions.report) AS report,
            coalesce(check_findings.month, conditions.month) AS month,
            coalesce(check_findings.question, conditions.error) AS error
        ),
        coalesce(check_findings.concerns, subjects.subject) AS subject,
        subjects.numbers,
        check_findings.measure,
        check_findings.earner_id
    FROM conditions
    LEFT JOIN check_findings ON conditions.kind = 'check' AND check_findings.name = conditions.cause
    LEFT JOIN meta.subjects AS subjects ON subjects.report = conditions.report
    WHERE conditions.is_of_figures
        AND (conditions.kind <> 'check' OR check_findings.name IS NOT NULL)
        AND (subjects.numbers IS NOT NULL OR conditions.report IS NULL)
        AND conditions.kind NOT IN ('column missing', 'not refreshed')  -- selected below, by measure and by office
    UNION ALL BY NAME
    SELECT
        conditions.kind, conditions.severity, conditions.since_utc, conditions.error, conditions.remedy, measures.subject
    FROM conditions
    LEFT JOIN meta.subjects AS subjects USING (report)
    INNER JOIN measures ON measures.subject = subjects.subject OR conditions.report IS NULL
    WHERE conditions.kind = 'column missing'
        AND measures.measure NOT IN (SELECT measure FROM marts.budgets)
    UNION ALL BY NAME
    SELECT
        'reports differ' AS kind, 'warning' AS severity, office_id AS earner_id, month, likely_reason AS error,
        unnest(['commission', 'agents']) AS subject, 'To see them: `brokerbi query reports_reconcile`.' AS remedy
    FROM marts.disagreements
    UNION ALL BY NAME
    SELECT DISTINCT
        'tax basis' AS kind, 'well' AS severity, subjects.report, subjects.subject,
        'Neither the service nor the settings state whether commissions include VAT; budgets do not.' AS error,
        'Declare it with BROKERBI_COMMISSION_VAT.' AS remedy
    FROM meta.subjects AS subjects
    SEMI JOIN marts.office_sources AS sources USING (report)
    WHERE subjects.numbers = 'commission' AND NOT EXISTS (FROM meta.tax_basis WHERE commission_vat <> 'unknown')
    UNION ALL BY NAME
    SELECT
        'not refreshed' AS kind, 'warning' AS severity, sources.customer_id AS customer, sources.report,
        sources.office_id AS earner_id, sources.month, subjects.subject, source_state AS error
    FROM marts.office_sources AS sources
    INNER JOIN meta.subjects AS subjects USING (report)
    ANTI JOIN marts.office_month AS closed ON closed.office_id = sources.office_id AND closed.closed_after_month < sources.month
    WHERE NOT sources.is_current
        AND sources.source_state NOT IN ('access refused', 'login refused')  -- because meta.conditions has these
        AND (
            subjects.numbers <> 'budgets'
            OR (report, office_id, month) IN (SELECT (report, office_id, month) FROM marts.budgets WHERE valid_to_utc IS NULL)
        )
),

reports_on_time AS (
    SELECT subjects.subject, freshness.customer
    FROM meta.freshness AS freshness
    INNER JOIN meta.subjects AS subjects USING (report)
    ANTI JOIN conditions
        ON conditions.report = freshness.report AND conditions.customer = freshness.customer
    WHERE freshness.state = 'fresh'
)

SELECT
    all_doubts.kind,
    min(all_doubts.severity) AS severity,
    coalesce(all_doubts.numbers, numbers_by_subject.numbers) AS numbers,
    all_doubts.subject,
    all_doubts.report,
    all_doubts.measure,
    all_doubts.customer,
    all_doubts.earner_id,
    all_doubts.month,
    all_doubts.kind IN ('late', 'never read') AS is_of_growing,
    min(all_doubts.since_utc) AS since_utc,
    all_doubts.error,
    any_value(all_doubts.remedy) AS remedy
FROM all_doubts
LEFT JOIN (SELECT DISTINCT subject, numbers FROM meta.subjects WHERE subject IS NOT NULL) AS numbers_by_subject USING (subject)
ANTI JOIN reports_on_time ON reports_on_time.subject = all_doubts.subject AND reports_on_time.customer = all_doubts.customer
GROUP BY ALL
