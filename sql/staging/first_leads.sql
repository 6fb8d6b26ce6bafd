-- Which lead was the first of its home?
-- One row per home, way and side (seller, buyer or unknown). Removed leads, and leads after the sale, do not count.
-- A table, because marts.leads would otherwise need memory for this and for sorting at the same time.
-- Kind: table
-- Columns:
--   way: incoming lead, outgoing lead or tip
--   landed_row: _row of the first lead in its table of bi
--   month: first day of the month of that lead
--   is_first_on_any_side: whether it is also the first lead of the home and way over all sides
SELECT
    way,
    first_lead.landed_row,
    first_lead.month,
    row_number() OVER (PARTITION BY way, estate_id ORDER BY first_lead) = 1 AS is_first_on_any_side
FROM (
    SELECT way, estate_id, min({'created_at': created_at, 'landed_row': landed_row, 'month': month}) AS first_lead
    FROM staging.counted_leads
    WHERE estate_id IS NOT NULL AND NOT is_removed AND NOT is_after_sale
    GROUP BY way, lead_side, estate_id
)
