-- Which figures are there, and how is each computed?
-- One row per figure.
-- Columns:
--   metric: name of the figure
--   subject: what the figure is about
--   mart: the table of marts that has the figure
--   expression: how the figure is computed over rows of that mart
--   grain: the columns of the mart by which rows may be chosen or grouped
--   unit: money, homes, parts, share, days, people or leads
--   is_additive: whether it may be added up over months and members; shares and averages are computed again from sums
--   basis: tax basis of its amounts; null if it has none
--   doubt: the kind of figures, as in meta.subjects, whose conditions make it doubtful
--   label_en: what people call it, in English
--   label_sv: what people call it, in Swedish
FROM (VALUES
    ('commission', 'Commission', 'level_month', 'sum(commission)', 'level, member_id, month', 'money', true, 'as declared in marts.tax_basis', 'commission', 'Commission', 'Provision'),
    ('commission_per_agent', 'Commission', 'level_month', 'sum(commission_per_active_agent * active_agent_count) / sum(active_agent_count)', 'level, member_id, month', 'money', false, 'as declared in marts.tax_basis', 'commission', 'Commission per active agent per month', 'Provision per aktiv mäklare och månad'),
    ('growth', 'Commission', 'growth', 'sum(commission) / sum(commission_before) - 1', 'level, member_id, period, month', 'share', false, NULL, 'commission', 'Growth, total', 'Tillväxt, totalt'),
    ('like_for_like_growth', 'Commission', 'growth', 'sum(like_for_like_commission) / sum(like_for_like_commission_before) - 1', 'level, member_id, period, month', 'share', false, NULL, 'commission', 'Growth, like for like', 'Tillväxt, jämförbara kontor'),
    ('homes', 'Sales', 'level_month', 'sum(sold_estate_parts)', 'level, member_id, month', 'homes', true, NULL, 'commission', 'Homes sold', 'Sålda bostäder'),
    ('average_price', 'Sales', 'level_month', 'sum(sold_total_price) / sum(sold_estate_parts)', 'level, member_id, month', 'money', false, NULL, 'commission', 'Average price', 'Snittpris'),
    ('fee', 'Sales', 'level_month', 'sum(sold_commission) / sum(sold_total_price)', 'level, member_id, month', 'share', false, 'as declared in marts.tax_basis', 'commission', 'Commission rate', 'Arvodesnivå'),
    ('average_commission', 'Sales', 'level_month', 'sum(sold_commission) / sum(sold_estate_parts)', 'level, member_id, month', 'money', false, 'as declared in marts.tax_basis', 'commission', 'Commission per home', 'Provision per bostad'),
    ('price_change', 'Market', 'market', 'any_value(price_change_share)', 'level, member_id, estate_type, period, month', 'share', false, NULL, 'sales', 'Price vs asking price, median', 'Slutpris mot utgångspris, median'),
    ('days_on_market', 'Market', 'market', 'any_value(days_on_market)', 'level, member_id, estate_type, period, month', 'days', false, NULL, 'sales', 'Days on market, median', 'Dagar till försäljning, median'),
    ('budget', 'Budget', 'level_budget_vs_actual', 'sum(budget)', 'level, member_id, measure, month', 'money', true, 'without VAT', 'budgets', 'Budget', 'Budget'),
    ('budget_attainment', 'Budget', 'office_budget_vs_actual', 'sum(actual) FILTER (budget IS NOT NULL) / sum(budget) FILTER (actual IS NOT NULL)', 'office_id, measure, month', 'share', false, 'without VAT', 'budgets', '% of budget', '% av budget'),
    ('year_forecast', 'Budget', 'level_budget_vs_actual', 'arg_max(year_forecast, month)', 'level, member_id, measure', 'money', false, 'without VAT', 'budgets', 'Full-year forecast', 'Helårsprognos'),
    ('outstanding', 'Money', 'receivables', 'sum(outstanding_commission) FILTER (is_receipt_noted)', 'office_id, age_band', 'money', true, 'as the service states it', 'sales', 'Signed, not yet paid', 'Kontrakterat, ej inbetalt'),
    ('money_to_come', 'Money', 'money_calendar', 'sum(commission) FILTER (is_receipt_noted)', 'access_month, office_id, state', 'money', true, 'as the service states it', 'sales', 'Commission by month of possession', 'Provision per tillträdesmånad'),
    ('valuations', 'Funnel', 'funnel_month', 'sum(valuation_parts)', 'earner_kind, earner_id, month', 'parts', true, NULL, 'commission', 'Valuations', 'Värderingar'),
    ('writings', 'Funnel', 'funnel_month', 'sum(writing_parts)', 'earner_kind, earner_id, month', 'parts', true, NULL, 'commission', 'Writing assignments', 'Skrivuppdrag'),
    ('active_agents', 'People', 'headcount_month', 'sum(active_agent_count)', 'level, member_id, month', 'people', false, NULL, 'agents', 'Active agents', 'Aktiva mäklare'),
    ('leads', 'Leads', 'lead_sources', 'sum(lead_count)', 'month, office_id, sender_name', 'leads', true, NULL, 'leads', 'Leads received', 'Mottagna leads')
) AS _(metric, subject, mart, expression, grain, unit, is_additive, basis, doubt, label_en, label_sv)
