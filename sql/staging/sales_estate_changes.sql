-- Which changes of an estate did the service note?
-- One row per change of an estate in an answer.
-- Columns:
--   landed_row: row of bi.sales_estate_changes by its column _row
--   landed_estate: row of bi.sales_estates that the change is nested in
--   changed_at: when the estate changed, in local time
--   status: state of the sale after the change
--   commission: whole commission after the change; currency and tax basis not documented
--   final_price: sale price after the change; currency not documented
SELECT
    _row AS landed_row,
    _parent_row AS landed_estate,
    changed_at,
    status_text AS status,
    commission,
    final_price
FROM bi.sales_estate_changes
