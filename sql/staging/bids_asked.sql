-- For which estates were bids requested?
-- One row per customer and estate that the service answered for, with or without bids.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   estate_id: id of the estate
--   is_hidden_asked: whether the hidden bids were requested as well
--   read_at_utc: when the service last answered, in UTC
SELECT
    customer AS customer_id,
    split_part(asked, '|', 2) AS estate_id,
    bool_or(report = 'hidden_bids') AS is_hidden_asked,
    max(fetched_at_utc) AS read_at_utc
FROM meta.history_scopes
WHERE report IN ('bids', 'hidden_bids')
GROUP BY ALL
HAVING bool_or(report = 'bids')
