-- One row about the file itself.
-- Columns:
--   format: version of these tables
--   has_traces: whether free space may contain rows that analysts must not see
--   is_rehearsal: whether the latest run was rehearsed, as if on another day (BROKERBI_TODAY)
CREATE TABLE IF NOT EXISTS meta.storage (
    format INTEGER,
    has_traces BOOLEAN,
    is_rehearsal BOOLEAN
);
