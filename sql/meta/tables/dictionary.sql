-- What every table and column here means.
-- Columns:
--   schema_name: bi, marts or meta
--   table_name: the table, view or macro; null for the schema itself
--   column_name: the column; null for the table itself
--   kind: schema, table, view, table macro or column
--   type: the type of a column
--   description: what it means, with unit, currency and tax where known
--   is_documented: whether the service documents it and its name in the answer; null for what the pipeline adds
--   source: where it is in the service's answer; null for what the pipeline adds
--   report: the report it belongs to; null for what the pipeline adds
--   first_seen_utc: when an answer first had it, in UTC
CREATE TABLE IF NOT EXISTS meta.dictionary (
    schema_name VARCHAR,
    table_name VARCHAR,
    column_name VARCHAR,
    kind VARCHAR,
    type VARCHAR,
    description VARCHAR,
    is_documented BOOLEAN,
    source VARCHAR,
    report VARCHAR,
    first_seen_utc TIMESTAMP
);
