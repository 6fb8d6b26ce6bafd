-- The service's columns of the tables of schema bi, in their order.
-- Columns:
--   table_name: the table of schema bi; a history goes by the name of its current view
--   column_name: the column
--   type: the type of its values; NULL while nothing but null has come (a VARCHAR then)
--   documented: whether the service's documentation knows the field
--   source: where in the answer it stands
--   description: what it means
--   first_seen_utc: when an answer first had it, in UTC; null for one that never came
--   first_load_id: the load that first had it
--   position: its place among the service's columns of the table, from 0
--   name_inferred: whether the documentation names the field, but not how it is written in the answer
CREATE TABLE IF NOT EXISTS meta.columns (
    table_name VARCHAR,
    column_name VARCHAR,
    type VARCHAR,
    documented BOOLEAN,
    source VARCHAR,
    description VARCHAR,
    first_seen_utc TIMESTAMP,
    first_load_id VARCHAR,
    "position" INTEGER,
    name_inferred BOOLEAN
);
