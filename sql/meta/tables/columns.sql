-- The service's columns of the tables of schema bi, in their order.
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
COMMENT ON TABLE meta.columns IS 'The service''s columns of the tables of schema bi, in their order.';
COMMENT ON COLUMN meta.columns.table_name IS
    'the table of schema bi; a history goes by the name of its current view';
COMMENT ON COLUMN meta.columns.column_name IS 'the column';
COMMENT ON COLUMN meta.columns.type IS
    'the type of its values; NULL while nothing but null has come (a VARCHAR then)';
COMMENT ON COLUMN meta.columns.documented IS 'whether the service''s documentation knows the field';
COMMENT ON COLUMN meta.columns.source IS 'where in the answer it stands';
COMMENT ON COLUMN meta.columns.description IS 'what it means';
COMMENT ON COLUMN meta.columns.first_seen_utc IS
    'when an answer first had it, in UTC; null for one that never came';
COMMENT ON COLUMN meta.columns.first_load_id IS 'the load that first had it';
COMMENT ON COLUMN meta.columns.name_inferred IS
    'whether the documentation names the field, but not how it is written in the answer';
COMMENT ON COLUMN meta.columns."position" IS 'its place among the service''s columns of the table, from 0';
