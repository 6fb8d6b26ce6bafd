-- When was an estate first advertised?
-- One row per estate in the list of sold estates, as last read.
-- Columns:
--   estate_id: id of the estate
--   advertised_on: day it was first advertised
SELECT
    id AS estate_id,
    arg_max(advertised_at::DATE, _fetched_at_utc) AS advertised_on
FROM bi.sold_estates
WHERE id IS NOT NULL
GROUP BY ALL
