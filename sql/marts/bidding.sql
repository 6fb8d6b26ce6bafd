-- How did the bidding on each sold home go?
-- One row per sold home whose bids were requested. The table is empty unless the report of bids has been on.
-- Annulled bids count only in canceled_bid_count.
-- If the hidden bids of a home were not requested, only its visible bids are counted, and its columns of hidden bids
-- are null.
-- A bid whose amount is not a number counts in the numbers of bids, but in no amount.
-- Key: estate_id
-- Columns:
--   estate_id: id of the estate
--   office_id: customer id of the listing office
--   office_name: name of the listing office
--   month: first day of the month of the contract
--   starting_price: asking price; currency not documented
--   final_price: sale price; currency not documented
--   bid_count: bids that were not annulled
--   bidder_count: number of people who made bids that were not annulled
--   identified_bidder_count: people of bidder_count who have proven their identity
--   hidden_bid_count: bids that were not annulled and are hidden; null if hidden bids were not requested
--   hidden_bid_share: hidden_bid_count as a share of bid_count. Null in two cases: if hidden bids were not requested;
--     if there is no bid
--   canceled_bid_count: bids that were annulled
--   unread_bid_count: bids that were not annulled and whose amount is not a number
--   first_bid: the earliest bid that was not annulled and whose amount is a number; in the currency of the prices
--   highest_bid: the highest bid that was not annulled; in the currency of the prices
--   first_bid_to_final_price: final_price less first_bid
--   starting_to_final_price: final_price less starting_price
--   first_bid_on: day of the earliest bid that was not annulled
--   bidding_days: days from first_bid_on to the latest bid that was not annulled
--   read_at_utc: when the home's bids were last requested, in UTC
--   _customer: the customer whose answer the row comes from
WITH latest_requests AS (
    SELECT *
    FROM staging.bids_asked
    QUALIFY row_number() OVER (PARTITION BY estate_id ORDER BY read_at_utc DESC, customer_id) = 1
),

bids_counted AS (
    SELECT
        customer_id,
        estate_id,
        count(*) FILTER (NOT is_canceled) AS bid_count,
        count(DISTINCT contact_id) FILTER (NOT is_canceled) AS bidder_count,
        count(DISTINCT contact_id) FILTER (NOT is_canceled AND is_identified) AS identified_bidder_count,
        count(*) FILTER (NOT is_canceled AND is_hidden) AS hidden_bid_count,
        count(*) FILTER (is_canceled) AS canceled_bid_count,
        count(*) FILTER (NOT is_canceled AND amount IS NULL) AS unread_bid_count,
        arg_min(amount, bid_at) FILTER (NOT is_canceled) AS first_bid,
        max(amount) FILTER (NOT is_canceled) AS highest_bid,
        min(bid_at) FILTER (NOT is_canceled)::DATE AS first_bid_on,
        max(bid_at) FILTER (NOT is_canceled)::DATE AS last_bid_on
    FROM staging.bids
    GROUP BY ALL
)

SELECT
    sales.estate_id,
    sales.office_id,
    sales.office_name,
    sales.month,
    sales.starting_price,
    sales.final_price,
    coalesce(bid_count, 0) AS bid_count,
    coalesce(bidder_count, 0) AS bidder_count,
    coalesce(identified_bidder_count, 0) AS identified_bidder_count,
    CASE WHEN is_hidden_asked THEN coalesce(hidden_bid_count, 0) END AS hidden_bid_count,
    CASE WHEN is_hidden_asked THEN (hidden_bid_count / nullif(bid_count, 0))::DECIMAL(19, 8) END AS hidden_bid_share,
    coalesce(canceled_bid_count, 0) AS canceled_bid_count,
    coalesce(unread_bid_count, 0) AS unread_bid_count,
    first_bid,
    highest_bid,
    (sales.final_price - first_bid)::DECIMAL(18, 4) AS first_bid_to_final_price,
    (sales.final_price - sales.starting_price)::DECIMAL(18, 4) AS starting_to_final_price,
    first_bid_on,
    last_bid_on - first_bid_on AS bidding_days,
    read_at_utc,
    latest_requests.customer_id AS _customer
FROM marts.sales AS sales
INNER JOIN latest_requests ON latest_requests.estate_id = sales.estate_id
LEFT JOIN bids_counted
    ON bids_counted.customer_id = latest_requests.customer_id
    AND bids_counted.estate_id = latest_requests.estate_id
ORDER BY sales.month, sales.office_id, sales.estate_id
