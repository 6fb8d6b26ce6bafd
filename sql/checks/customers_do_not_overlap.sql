-- Do two configured customers answer for the same office?
-- One row per pair of customers that are both requested: their shared offices are counted once, but requested twice.
-- If neither answers for all offices of the other, the user report of only one of them counts for the users in both.
-- Severity: warning
-- Concerns: commission
SELECT customer_id, yielding_customer_id, shared_offices, is_contained
FROM marts.customer_overlaps
WHERE is_asked_twice
