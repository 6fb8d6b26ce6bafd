-- Does a documented id stand twice in one answer?
-- One row per table, load and id that stands more than once.
-- Severity: warning
-- Columns:
--   table_name: the table of bi
--   load_id: the load it came with; joins meta.loads
--   id: the id that stands twice
--   month: first day of the month, of reports that are asked month by month
--   row_count: how often
SELECT
    'commission_office' AS table_name, _load_id AS load_id, office_customer_id AS id, _month AS month,
    count(*) AS row_count
FROM bi.commission_office WHERE office_customer_id IS NOT NULL GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'commission_user', _load_id, user_id, _month, count(*)
FROM bi.commission_user WHERE user_id IS NOT NULL GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'sales_estates', _load_id, id, NULL, count(*)
FROM bi.sales_estates WHERE id IS NOT NULL GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'incoming_leads', _load_id, lead_id, NULL, count(*)
FROM bi.incoming_leads WHERE lead_id IS NOT NULL GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'outgoing_leads', _load_id, lead_id, NULL, count(*)
FROM bi.outgoing_leads WHERE lead_id IS NOT NULL GROUP BY ALL HAVING count(*) > 1
UNION ALL
SELECT 'tips', _load_id, tip_id, NULL, count(*)
FROM bi.tips WHERE tip_id IS NOT NULL GROUP BY ALL HAVING count(*) > 1
