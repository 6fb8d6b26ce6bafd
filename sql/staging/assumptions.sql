-- Which queries found what they assume of undocumented tables?
-- One row per query that assumes something.
-- Columns:
--   query: the query, as schema and name
--   fits: whether everything it expects has arrived
--   state: fits, nothing has arrived or differs
--   message: why it does not fit; null where it does
SELECT
    query,
    bool_and(state = 'fits') AS fits,
    any_value(state) AS state,
    nullif(any_value(message), '') AS message
FROM meta.assumptions
GROUP BY ALL
