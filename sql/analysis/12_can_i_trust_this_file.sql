-- What should I know before I believe the numbers?
-- One row per open problem, and one per office and month where reports disagree.
--
-- Everything the pipeline finds doubtful is in meta.problems; marts.disagreements says where reports differ, and
-- marts.reconciliation in which measure and by how much each.
SELECT kind, severity, report, customer, month, message
FROM meta.problems
UNION ALL
SELECT
    'disagreement', 'warning', coalesce(odd_report, differing_reports), _customer, month,
    office_name || ': ' || differing_reports || coalesce(' by ' || commission_difference || ' of commission', '')
    || ' (' || likely_reason || ')'
FROM marts.disagreements
ORDER BY severity, kind, month DESC;
