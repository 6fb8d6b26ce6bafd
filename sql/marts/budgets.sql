-- What was budgeted for whom, and when was it changed?
-- One row per office, user, month, measure and version; those without valid_to_utc stand now.
-- Where several reports hold the same budget, the office's budget report counts first, then the monthly ones;
-- where two customers answer for an office, one does. When a version began is when it was first read, not when
-- it was set.
-- Columns:
--   office_id: customer id of the office
--   month: first day of the month
--   report: the budget report that this comes from
SELECT
    budgets.office_id,
    budgets.user_id,
    budgets.month,
    budgets.measure,
    budgets.amount,
    budgets.valid_from_utc,
    budgets.valid_to_utc,
    budgets.report,
    budgets.customer_id AS _customer,
    budgets.month AS _month,
    budgets.load_id AS _load_id
FROM staging.budgets AS budgets
INNER JOIN marts.office_sources AS sources
    ON sources.report = budgets.report
    AND sources.office_id = budgets.office_id
    AND sources.month = budgets.month
    AND sources.customer_id = budgets.customer_id
QUALIFY preference = min(preference) OVER (PARTITION BY budgets.office_id, budgets.month, budgets.measure)
ORDER BY ALL
