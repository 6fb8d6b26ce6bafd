-- Which leads and tips have several rows, and which row of each counts?
-- One row per lead or tip with several rows: the row that was loaded last.
-- A table, because marts.leads is built in parts, and each part would search all leads.
-- Kind: table
-- Columns:
--   way: incoming lead, outgoing lead or tip
--   lead_id: id of the lead or tip
--   landed_row: the row that counts, by its column _row
SELECT way, lead_id, max(landed_row) AS landed_row
FROM staging.leads_with_offices
WHERE lead_id IS NOT NULL
GROUP BY ALL
HAVING count(*) > 1
