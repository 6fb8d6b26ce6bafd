-- What do reports bring: which numbers, and which figures of the pages?
-- Columns:
--   report: name of a report that a number is explained by, or that pages show
--   numbers: commission, leads, directory or budgets: reports that have it alike tell of the same
--   subject: the figures of pages that it brings; null if it brings none
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
