-- The columns that identify a row of a table.
-- Columns:
--   schema_name: bi or marts
--   table_name: the table
--   columns: the columns that are unique together; some may be null
--   kind: grain (of a mart), row (our own number of a row of bi) or documented (the service's id of a row of bi, unique
--     within a customer and month)
CREATE TABLE IF NOT EXISTS meta.keys (
    schema_name VARCHAR,
    table_name VARCHAR,
    "columns" VARCHAR[],
    kind VARCHAR
);
