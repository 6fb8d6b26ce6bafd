-- Which bids have been made?
-- One row per requested customer and bid, as last read. A bid that is in both reports, Bids and HiddenBids, is hidden.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   estate_id: id of the estate
--   bid_id: id of the bid
--   contact_id: id of the bidder
--   bid_at: when the bid was made, in local time
--   amount: the bid as a number; null if the text is not one; currency not documented
--   amount_text: the bid as entered
--   is_hidden: whether the bid is hidden
--   is_canceled: whether the bid was annulled
--   is_identified: whether the bidder has proven their identity
WITH both_lists AS (
    SELECT _customer, asked_estate_id, id, estate_id, contact_id, created_at, amount, is_hidden, is_canceled, identified_bidder, false AS _is_of_hidden
    FROM bi.bids
    UNION ALL
    SELECT _customer, asked_estate_id, id, estate_id, contact_id, created_at, amount, is_hidden, is_canceled, identified_bidder, true
    FROM bi.hidden_bids
)

SELECT
    _customer AS customer_id,
    coalesce(nullif(estate_id, ''), asked_estate_id) AS estate_id,
    id AS bid_id,
    nullif(contact_id, '') AS contact_id,
    created_at AS bid_at,
    parsed_amount(amount) AS amount,
    amount AS amount_text,
    coalesce(is_hidden, _is_of_hidden) AS is_hidden,
    coalesce(is_canceled, false) AS is_canceled,
    coalesce(identified_bidder, false) AS is_identified
FROM both_lists
QUALIFY row_number() OVER (PARTITION BY _customer, id ORDER BY _is_of_hidden DESC) = 1
