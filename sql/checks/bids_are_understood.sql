-- Are there bids whose amount is not a number?
-- One row per office and month with such bids; they are in no amount of marts.bidding.
-- Severity: warning
-- Concerns: nothing
SELECT office_id, month, count(*) AS home_count, sum(unread_bid_count) AS unread_bid_count
FROM marts.bidding
WHERE unread_bid_count > 0
GROUP BY ALL
