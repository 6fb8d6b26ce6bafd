-- Which months failed or are held back, and which reports are refused?
-- One row per problem of a report and customer; without a month it is about all of them.
SELECT report, customer, month, kind AS state, NULL::BIGINT AS rows
FROM meta.problems
WHERE kind IN ('failed month', 'held back', 'no access')
