-- What should I know before I believe the numbers?
-- One row per open issue, one per office and month in which reports disagree, and one while VAT is not declared.
--
-- Open issues are in meta.problems; marts.disagreements names the months in which reports differ, and
-- marts.reconciliation has each difference. marts.doubts has the same issues by figures, office and month.
SELECT kind, severity, report, customer, month, message
FROM meta.problems
UNION ALL
SELECT
    'disagreement', 'warning', coalesce(odd_report, differing_reports), _customer, month,
    office_name || ': ' || differing_reports || coalesce(' by ' || commission_difference || ' of commission', '')
    || ' (' || likely_reason || ')'
FROM marts.disagreements
UNION ALL
SELECT kind, severity, NULL, NULL, NULL, any_value(error || ' ' || remedy)
FROM marts.doubts
WHERE kind = 'tax basis'
GROUP BY kind, severity
ORDER BY severity, kind, month DESC;
