-- Which lead was the first of its home?
-- One row per home, way and side with a lead before its sale; removed leads do not count.
-- A table, because marts.leads would otherwise need memory for this and for sorting at the same time.
-- Kind: table
-- Columns:
--   way: incoming lead, outgoing lead or tip
--   landed_row: row of the table of bi by its column _row
--   is_first_on_any_side: whether it is the first of this way over all sides
SELECT
    way,
    first(landed_row ORDER BY created_at, landed_row) AS landed_row,
    row_number() OVER (PARTITION BY way, estate_id ORDER BY min(created_at), min(landed_row)) = 1 AS is_first_on_any_side
FROM staging.counted_leads
WHERE estate_id IS NOT NULL AND NOT is_removed AND NOT is_after_sale
GROUP BY way, lead_side, estate_id
