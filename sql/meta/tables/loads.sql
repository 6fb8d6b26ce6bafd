-- One row per request window that was asked for: what came, when, and what became of it.
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
    opened BIGINT,
    closed BIGINT
);
COMMENT ON TABLE meta.loads IS
    'One row per request window that was asked for: what came, when, and what became of it.';
COMMENT ON COLUMN meta.loads.load_id IS 'the load; _load_id in every table of schema bi';
COMMENT ON COLUMN meta.loads.load_number IS
    'its number; _row of its rows is load_number * 2^24 + place in the answer';
COMMENT ON COLUMN meta.loads.run_id IS 'the run that asked';
COMMENT ON COLUMN meta.loads.report IS 'name of the report in the catalogue';
COMMENT ON COLUMN meta.loads.customer IS 'the customer that was asked for';
COMMENT ON COLUMN meta.loads.window_start IS 'first day asked for; null for a report without dates';
COMMENT ON COLUMN meta.loads.window_end IS 'last day asked for';
COMMENT ON COLUMN meta.loads.months IS
    'first days of the months asked for; empty for a report without months';
COMMENT ON COLUMN meta.loads.history IS 'whether it is a snapshot, merged into history';
COMMENT ON COLUMN meta.loads.asked IS 'the ids asked for one by one, where only these were compared';
COMMENT ON COLUMN meta.loads.requests IS 'requests made, tries included';
COMMENT ON COLUMN meta.loads."rows" IS 'rows that came, over all tables of the report; of a month they are written, of a history opened and closed say what was';
COMMENT ON COLUMN meta.loads.bytes IS 'bytes received';
COMMENT ON COLUMN meta.loads.sha256 IS 'checksum of the landing file';
COMMENT ON COLUMN meta.loads.seconds IS 'seconds spent in requests';
COMMENT ON COLUMN meta.loads.fetched_at_utc IS 'when the service answered, in UTC';
COMMENT ON COLUMN meta.loads.loaded_at_utc IS 'when the rows were written, in UTC';
COMMENT ON COLUMN meta.loads.status IS
    '''loaded'', ''superseded'' by a newer, ''landed'' (not loaded), ''failed'', ''held back'', ''no access''';
COMMENT ON COLUMN meta.loads.error IS 'why it is not loaded';
COMMENT ON COLUMN meta.loads.remedy IS 'what to do about it; null where the error says it or nothing is to be done';
COMMENT ON COLUMN meta.loads.http_status IS 'the status of the last answer, where there was one and it was an error';
COMMENT ON COLUMN meta.loads.last_try IS 'how the last of several tries ended, like answered 500';
COMMENT ON COLUMN meta.loads.login IS 'where the login is set that was refused, of an error 401';
COMMENT ON COLUMN meta.loads.error_kind IS
    'the kind of error in one word, like Unavailable; null where it has none';
COMMENT ON COLUMN meta.loads.trouble IS
    'what it has behind it that other failures have as well: service, refusal or login; null or empty where it is alone';
COMMENT ON COLUMN meta.loads.landing IS
    'the file below landing/ with the answers; null once it was cleared away';
COMMENT ON COLUMN meta.loads.note IS 'what was unusual about it';
COMMENT ON COLUMN meta.loads.opened IS 'rows of history that began with it';
COMMENT ON COLUMN meta.loads.closed IS 'rows of history that ended with it';
