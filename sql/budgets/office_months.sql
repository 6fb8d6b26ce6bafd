-- What was budgeted and reached by office, month and measure?
-- One row per office, month and measure; what is not over yet has no actual.
-- Columns:
--   office_id: customer id of the office
--   month: first day of the month
--   measure: commission, sold, registered, meetings or own_booked
--   budget: the sum of the office's budgets
--   actual: what was reached
SELECT
    office_id,
    month,
    CASE measure
        WHEN 'sold estates' THEN 'sold'
        WHEN 'registered estates' THEN 'registered'
        WHEN 'own booked meetings' THEN 'own_booked'
        ELSE measure
    END AS measure,
    budget::DOUBLE AS budget,
    CASE WHEN NOT is_open THEN actual::DOUBLE END AS actual
FROM marts.office_budget_vs_actual
ORDER BY ALL
