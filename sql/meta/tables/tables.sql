-- The tables of schema bi: which report they belong to and how they are kept.
CREATE TABLE IF NOT EXISTS meta.tables (
    table_name VARCHAR,
    report VARCHAR,
    parent_name VARCHAR,
    history BOOLEAN,
    "key" VARCHAR[],
    nested BOOLEAN,
    description VARCHAR
);
COMMENT ON TABLE meta.tables IS 'The tables of schema bi: which report they belong to and how they are kept.';
COMMENT ON COLUMN meta.tables.table_name IS
    'the table of schema bi; a history goes by the name of its current view';
COMMENT ON COLUMN meta.tables.report IS 'name of the report in the catalogue';
COMMENT ON COLUMN meta.tables.parent_name IS 'the table whose rows these are nested in';
COMMENT ON COLUMN meta.tables.history IS 'whether bi.<name>_history keeps its past';
COMMENT ON COLUMN meta.tables."key" IS 'the documented id of a row, as columns';
COMMENT ON COLUMN meta.tables.nested IS 'whether its rows point to a parent with _parent_row';
COMMENT ON COLUMN meta.tables.description IS 'what a row is';
