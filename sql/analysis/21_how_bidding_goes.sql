-- How many people bid on a home, how far above the first bid is it sold, and how long does the bidding take?
-- One row per office and year, of homes whose bids were requested (report bids). Hidden bids are those of hidden_bids.
-- Parameters: year, office
SELECT
    year(month) AS year,
    office_name,
    count(*) AS homes,
    count(*) FILTER (bid_count > 0) AS homes_with_bids,
    round(avg(bidder_count) FILTER (bid_count > 0), 1) AS bidders_per_home,
    round(avg(first_bid_to_final_price)) AS average_rise,
    round(100 * sum(first_bid_to_final_price) / nullif(sum(first_bid) FILTER (final_price IS NOT NULL), 0), 1) AS rise_in_percent,
    round(avg(bidding_days), 1) AS days,
    round(100 * sum(hidden_bid_count) / nullif(sum(bid_count) FILTER (hidden_bid_count IS NOT NULL), 0), 1) AS hidden_in_percent
FROM marts.bidding
WHERE year(month) = coalesce(getvariable('year'), year(month))
    AND office_id = coalesce(getvariable('office'), office_id)
GROUP BY ALL
ORDER BY year DESC, homes DESC;
