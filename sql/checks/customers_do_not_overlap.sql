-- Do two configured customers answer for the same office?
-- One row per pair of customers that are both requested: their shared offices are counted once, but requested twice.
-- If both user reports have a user, marts.user_sources states which of them counts.
-- Severity: warning
-- Concerns: commission
SELECT customer_id, yielding_customer_id, shared_offices, is_contained
FROM marts.customer_overlaps
WHERE is_asked_twice
