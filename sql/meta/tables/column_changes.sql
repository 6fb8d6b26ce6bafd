-- Every change of a column's type.
-- Columns:
--   table_name: the table of schema bi; a history goes by the name of its current view
--   column_name: the column
--   from_type: the type before the change
--   to_type: the type after the change
--   load_id: the load that needed the change; null if the documentation changed
--   changed_at_utc: when that load was fetched, or the new documentation applied, in UTC
CREATE TABLE IF NOT EXISTS meta.column_changes (
    table_name VARCHAR,
    column_name VARCHAR,
    from_type VARCHAR,
    to_type VARCHAR,
    load_id VARCHAR,
    changed_at_utc TIMESTAMP
);
