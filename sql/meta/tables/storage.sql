-- One row about the file itself.
CREATE TABLE IF NOT EXISTS meta.storage (
    format INTEGER,
    has_traces BOOLEAN,
    is_rehearsal BOOLEAN
);
COMMENT ON TABLE meta.storage IS 'One row about the file itself.';
COMMENT ON COLUMN meta.storage.format IS 'version of these tables';
COMMENT ON COLUMN meta.storage.has_traces IS 'whether free space may hold what analysts must not see';
COMMENT ON COLUMN meta.storage.is_rehearsal IS
    'whether the latest run took another day for today (BROKERBI_TODAY)';
