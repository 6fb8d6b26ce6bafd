-- One row per requested window: what was received, when, and whether it was loaded.
-- Columns:
--   load_id: the load; _load_id in every table of schema bi
--   load_number: number of the load; unless it is a snapshot, _row is load_number * 2^24 + position in the answer
--   run_id: the run that requested the window
--   report: name of the report in the catalogue
--   customer: the requested customer
--   window_start: first requested day; null for a report without dates
--   window_end: last requested day
--   months: first days of the requested months; empty for a report without months
--   history: whether the load is a snapshot, merged into history
--   asked: the ids requested one by one, if only their rows were compared
--   requests: requests made, tries included
--   rows: rows received, over all tables of the report; for a snapshot, opened and closed count the rows that changed
--     the history
--   bytes: bytes received
--   sha256: checksum of the landing file
--   seconds: seconds spent in requests
--   fetched_at_utc: when the service answered, in UTC
--   loaded_at_utc: when the rows were written, in UTC
--   status: 'loaded', 'superseded' (a newer answer was loaded), 'landed' (not loaded), 'failed', 'held back' or 'no
--     access'
--   error: why the window is not loaded
--   error_kind: the kind of error in one word, like Unavailable; null if it has none
--   trouble: the cause shared with other failures: service, refusal or login; null or empty if none is shared
--   remedy: what to do about it; null if the error says it or nothing is to be done
--   http_status: the status of the last answer, if that was an error
--   last_try: how the last of several tries ended, like answered 500
--   login: where the denied login of an error 401 is set
--   landing: the file below landing/ with the answers; null once it was removed
--   note: what was unusual about the answers
--   shape: fingerprint of the shape that its answers were read by
--   missing: needed columns that none of its rows had, as table.column
--   opened: rows of history that began with this load
--   closed: rows of history that ended with this load
CREATE TABLE IF NOT EXISTS meta.loads (
    load_id VARCHAR,
    load_number BIGINT,
    run_id VARCHAR,
    report VARCHAR,
    customer VARCHAR,
    window_start DATE,
    window_end DATE,
    months DATE[],
    history BOOLEAN,
    asked VARCHAR[],
    requests BIGINT,
    "rows" BIGINT,
    bytes BIGINT,
    sha256 VARCHAR,
    seconds DOUBLE,
    fetched_at_utc TIMESTAMP,
    loaded_at_utc TIMESTAMP,
    status VARCHAR,
    error VARCHAR,
    error_kind VARCHAR,
    trouble VARCHAR,
    remedy VARCHAR,
    http_status INTEGER,
    last_try VARCHAR,
    login VARCHAR,
    landing VARCHAR,
    note VARCHAR,
    shape VARCHAR,
    missing VARCHAR[],
    opened BIGINT,
    closed BIGINT
);
