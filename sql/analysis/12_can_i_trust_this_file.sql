-- What should I know before I believe the numbers?
-- One row per open problem, and one per office and month where reports disagree.
--
-- Everything the pipeline finds doubtful is in meta.problems; marts.reconciliation says where and why reports
-- differ.
SELECT kind, severity, report, customer, month, message
FROM meta.problems
UNION ALL
SELECT
    'disagreement', 'warning', compared, _customer, month,
    office_name || ': ' || measure || ' differs by ' || difference || ' (' || likely_reason || ')'
FROM marts.reconciliation
WHERE NOT is_reconciled
ORDER BY severity, kind, month DESC;
