-- Every question to the service which sales were changed lately; its rows are not kept.
CREATE TABLE IF NOT EXISTS meta.probes (
    load_id VARCHAR,
    run_id VARCHAR,
    customer VARCHAR,
    asked_of VARCHAR,
    window_start DATE,
    window_end DATE,
    requests BIGINT,
    bytes BIGINT,
    seconds DOUBLE,
    fetched_at_utc TIMESTAMP,
    status VARCHAR,
    error VARCHAR,
    landing VARCHAR,
    estates BIGINT,
    note VARCHAR
);
COMMENT ON TABLE meta.probes IS 'Every question to the service which sales were changed lately; its rows are not kept.';
COMMENT ON COLUMN meta.probes.load_id IS 'the question';
COMMENT ON COLUMN meta.probes.run_id IS 'the run that asked';
COMMENT ON COLUMN meta.probes.customer IS 'the customer that was asked for';
COMMENT ON COLUMN meta.probes.asked_of IS 'the report that was asked, by the moment of change';
COMMENT ON COLUMN meta.probes.window_start IS 'first day asked for';
COMMENT ON COLUMN meta.probes.window_end IS 'last day asked for';
COMMENT ON COLUMN meta.probes.requests IS 'requests made, tries included';
COMMENT ON COLUMN meta.probes.bytes IS 'bytes received';
COMMENT ON COLUMN meta.probes.seconds IS 'seconds spent in requests';
COMMENT ON COLUMN meta.probes.fetched_at_utc IS 'when the service answered, in UTC';
COMMENT ON COLUMN meta.probes.status IS '''answered'' or ''failed''';
COMMENT ON COLUMN meta.probes.error IS 'why there was no answer that could be used';
COMMENT ON COLUMN meta.probes.landing IS 'the file below landing/ with the answers';
COMMENT ON COLUMN meta.probes.estates IS 'estates that were named as changed';
COMMENT ON COLUMN meta.probes.note IS 'what was unusual about the answer';
