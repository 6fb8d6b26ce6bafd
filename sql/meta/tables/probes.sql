-- Every request for the sales that changed lately; its rows are not loaded.
-- Columns:
--   load_id: the request
--   run_id: the run that sent it
--   customer: the requested customer
--   asked_of: the report that was requested, by the time of change
--   window_start: first requested day
--   window_end: last requested day
--   requests: requests made, tries included
--   bytes: bytes received
--   seconds: seconds spent in requests
--   fetched_at_utc: when the service answered, in UTC
--   status: 'answered' or 'failed'
--   error: why there was no usable answer
--   landing: the file below landing/ with the answers
--   estates: estates that the answer names as changed
--   note: what was unusual about the answer
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
