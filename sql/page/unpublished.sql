-- Why was the latest file not published?
-- One row where something spoke against it, else none.
SELECT at_utc, reasons
FROM meta.publications
QUALIFY row_number() OVER (ORDER BY at_utc DESC) = 1 AND status IN ('refused', 'failed')
