-- What do all budget reports say together?
-- One row per report, office, user, month, measure and version of a budget; the same budget may stand in several.
-- Columns:
--   preference: which report counts where several hold the same budget; the lowest
SELECT *, 1 AS preference FROM staging.budget_commission
UNION ALL
SELECT *, 1 AS preference FROM staging.budget_sold_estates
UNION ALL
SELECT *, 1 AS preference FROM staging.budget_crm
UNION ALL
SELECT *, 2 AS preference FROM staging.office_budget_commission
UNION ALL
SELECT *, 2 AS preference FROM staging.office_budget_estate
UNION ALL
SELECT *, 2 AS preference FROM staging.office_budget_crm
UNION ALL
SELECT *, 3 AS preference FROM staging.user_budget_commission
UNION ALL
SELECT *, 3 AS preference FROM staging.user_budget_estate
UNION ALL
SELECT *, 3 AS preference FROM staging.user_budget_crm
