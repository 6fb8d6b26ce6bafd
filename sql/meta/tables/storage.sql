-- One row about the file itself.
-- Columns:
--   format: version of these tables
--   has_traces: whether free space may hold what analysts must not see
--   is_rehearsal: whether the latest run took another day for today (BROKERBI_TODAY)
CREATE TABLE IF NOT EXISTS meta.storage (
    format INTEGER,
    has_traces BOOLEAN,
    is_rehearsal BOOLEAN
);
