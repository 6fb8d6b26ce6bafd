-- Which queries found what they assume of undocumented tables?
-- One row per query that assumes something.
-- Columns:
--   query: the query, as schema and name
--   fits: whether everything it expects has arrived
SELECT query, bool_and(state = 'fits') AS fits
FROM meta.assumptions
GROUP BY ALL
