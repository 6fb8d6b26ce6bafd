-- Do two configured customers answer for the same office?
-- One row per pair if both are requested: their offices are counted once, but requested twice.
-- If neither answers for all offices of the other, only one user report counts for the users of both.
-- Severity: warning
-- Concerns: commission
SELECT customer_id, yielding_customer_id, shared_offices, is_contained
FROM marts.customer_overlaps
WHERE is_asked_twice
