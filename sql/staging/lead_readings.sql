-- When was each month of tips and leads read?
-- One row per customer, month and answer, also of answers that were replaced since.
-- Columns:
--   customer_id: the customer that was asked, an office or a group
--   month: first day of the month
--   read_at_utc: when the service gave the answer
SELECT customer AS customer_id, unnest(months) AS month, fetched_at_utc AS read_at_utc
FROM meta.loads
WHERE report = 'tips_and_leads' AND status IN ('loaded', 'superseded', 'landed')
