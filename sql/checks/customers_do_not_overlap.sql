-- Are two configured customers answering for the same office?
-- One row per pair of which both are asked for; nothing is counted twice, but it is asked for twice.
-- Where neither answers for all offices of the other, the user report of users of both is taken from one alone.
-- Severity: warning
-- Concerns: commission
SELECT customer_id, yielding_customer_id, shared_offices, is_contained
FROM marts.customer_overlaps
WHERE is_asked_twice
