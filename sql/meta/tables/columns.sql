-- The service's columns of the tables of schema bi, in their order.
-- Columns:
--   table_name: the table of schema bi; a history goes by the name of its current view
--   column_name: the column
--   type: the type of its values. NULL while only nulls have been received; the column is then a VARCHAR
--   documented: whether the service documents the field
--   source: where the column is in the answer
--   description: what the column means
--   first_seen_utc: when an answer first had the column, in UTC; null if none ever had
--   first_load_id: the load that first had the column
--   position: position among the service's columns of the table, from 0
--   name_inferred: whether the documentation has the field, but not its name in the answer
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
