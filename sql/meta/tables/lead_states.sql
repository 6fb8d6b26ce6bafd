-- How leads were first read, and how when they were not new any more.
CREATE TABLE IF NOT EXISTS meta.lead_states (
    way VARCHAR,
    lead_id VARCHAR,
    version BIGINT,
    state VARCHAR,
    is_removed BOOLEAN,
    read_at_utc TIMESTAMP
);
COMMENT ON TABLE meta.lead_states IS 'How leads were first read, and how when they were not new any more.';
COMMENT ON COLUMN meta.lead_states.way IS 'incoming lead or tip';
COMMENT ON COLUMN meta.lead_states.lead_id IS 'id of the lead or tip';
COMMENT ON COLUMN meta.lead_states.version IS '1 as first read, 2 as read when it was no longer new';
COMMENT ON COLUMN meta.lead_states.state IS 'state of the lead then, as the service words it';
COMMENT ON COLUMN meta.lead_states.is_removed IS 'whether it was listed as removed then';
COMMENT ON COLUMN meta.lead_states.read_at_utc IS 'when the service gave that answer';
