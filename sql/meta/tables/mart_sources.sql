-- Which tables every mart is made of, one step back.
-- Columns:
--   table_name: the mart
--   from_schema_name: bi, marts or meta
--   from_table_name: a table that its SQL reads
CREATE TABLE IF NOT EXISTS meta.mart_sources (
    table_name VARCHAR,
    from_schema_name VARCHAR,
    from_table_name VARCHAR
);
