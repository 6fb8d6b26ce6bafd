-- The tables of schema bi: which report they belong to, and how they are stored.
-- Columns:
--   table_name: the table of schema bi; a history goes by the name of its current view
--   report: name of the report in the catalogue
--   parent_name: the table whose rows the rows of this table are nested in
--   history: whether bi.<name>_history has earlier versions of its rows
--   key: the documented id of a row, as columns
--   nested: whether its rows point to a parent with _parent_row
--   description: what a row is
CREATE TABLE IF NOT EXISTS meta.tables (
    table_name VARCHAR,
    report VARCHAR,
    parent_name VARCHAR,
    history BOOLEAN,
    "key" VARCHAR[],
    nested BOOLEAN,
    description VARCHAR
);
