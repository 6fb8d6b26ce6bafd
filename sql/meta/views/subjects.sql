-- Which numbers, and which figures of the pages, does each report provide?
-- Columns:
--   report: name of a report that explains a number, or that pages show
--   numbers: commission, leads, directory or budgets: reports with the same value provide the same numbers
--   subject: the figures of pages that the report provides; null if it provides none
CREATE OR REPLACE VIEW meta.subjects AS
FROM (VALUES
    ('commission_office', 'commission', 'commission'),
    ('commission_user', 'commission', 'agents'),
    ('sales', 'commission', 'sales'),
    ('tips_and_leads', 'leads', 'leads'),
    ('users', 'directory', 'directory'),
    ('budget_commission', 'budgets', 'budgets'),
    ('office_budget_commission', 'budgets', 'budgets'),
    ('user_budget_commission', 'budgets', 'budgets'),
    ('budget_sold_estates', 'budgets', 'budgets_of_homes'),
    ('office_budget_estate', 'budgets', 'budgets_of_homes'),
    ('user_budget_estate', 'budgets', 'budgets_of_homes'),
    ('budget_crm', 'budgets', NULL),
    ('office_budget_crm', 'budgets', NULL),
    ('user_budget_crm', 'budgets', NULL)
) AS _(report, numbers, subject);
