-- How leads were first read, and how when they were not new any more.
-- Columns:
--   way: incoming lead or tip
--   lead_id: id of the lead or tip
--   version: 1 as first read, 2 as read when it was no longer new
--   state: state of the lead then, as the service words it
--   is_removed: whether it was listed as removed then
--   read_at_utc: when the service gave that answer
CREATE TABLE IF NOT EXISTS meta.lead_states (
    way VARCHAR,
    lead_id VARCHAR,
    version BIGINT,
    state VARCHAR,
    is_removed BOOLEAN,
    read_at_utc TIMESTAMP
);
