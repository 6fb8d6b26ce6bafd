-- Every change of a column's type.
CREATE TABLE IF NOT EXISTS meta.column_changes (
    table_name VARCHAR,
    column_name VARCHAR,
    from_type VARCHAR,
    to_type VARCHAR,
    load_id VARCHAR,
    changed_at_utc TIMESTAMP
);
COMMENT ON TABLE meta.column_changes IS 'Every change of a column''s type.';
COMMENT ON COLUMN meta.column_changes.table_name IS
    'the table of schema bi; a history goes by the name of its current view';
COMMENT ON COLUMN meta.column_changes.column_name IS 'the column';
COMMENT ON COLUMN meta.column_changes.from_type IS 'the type before';
COMMENT ON COLUMN meta.column_changes.to_type IS 'the type since';
COMMENT ON COLUMN meta.column_changes.load_id IS
    'the load that needed the change; null when the documentation did';
COMMENT ON COLUMN meta.column_changes.changed_at_utc IS 'when that load was fetched, in UTC';
