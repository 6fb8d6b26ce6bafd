-- Which months failed, are held back or wait for their first turn, and which reports are refused?
-- One row per report, customer and month; without a month it is about all of them.
SELECT report, customer, month, status AS state, NULL::BIGINT AS rows
FROM meta.open_failures
UNION ALL
SELECT report, customer, month, 'waiting', NULL::BIGINT
FROM meta.turns AS turns
ANTI JOIN meta.months AS months USING (report, customer, month)
UNION ALL
SELECT report, customer, NULL::DATE, state, NULL::BIGINT
FROM meta.freshness
WHERE state = 'no access'
