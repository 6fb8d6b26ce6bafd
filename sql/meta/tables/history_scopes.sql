-- The newest snapshot merged so far, for each stretch that a snapshot speaks of.
CREATE TABLE IF NOT EXISTS meta.history_scopes (
    report VARCHAR,
    customer VARCHAR,
    month DATE,
    asked VARCHAR,
    load_id VARCHAR,
    fetched_at_utc TIMESTAMP,
    changed_at_utc TIMESTAMP
);
COMMENT ON TABLE meta.history_scopes IS 'The newest snapshot merged so far, for each stretch that a snapshot speaks of.';
COMMENT ON COLUMN meta.history_scopes.report IS 'name of the report in the catalogue';
COMMENT ON COLUMN meta.history_scopes.customer IS 'the customer that was asked for';
COMMENT ON COLUMN meta.history_scopes.month IS 'first day of the month; null for a report without months';
COMMENT ON COLUMN meta.history_scopes.asked IS 'the id asked for, where only its rows were compared';
COMMENT ON COLUMN meta.history_scopes.load_id IS 'the load, as in meta.loads';
COMMENT ON COLUMN meta.history_scopes.fetched_at_utc IS 'when the service answered, in UTC';
COMMENT ON COLUMN meta.history_scopes.changed_at_utc IS
    'when an answer last differed from the one before, in UTC; null if none ever did';
