-- The longest window and the largest page that the service was seen to accept, where it refused more.
CREATE TABLE IF NOT EXISTS meta.window_caps (
    report VARCHAR,
    customer VARCHAR,
    days INTEGER,
    months INTEGER,
    learned_at_utc TIMESTAMP,
    page_size INTEGER
);
COMMENT ON TABLE meta.window_caps IS 'The longest window and the largest page that the service was seen to accept, where it refused more.';
COMMENT ON COLUMN meta.window_caps.report IS 'name of the report in the catalogue';
COMMENT ON COLUMN meta.window_caps.customer IS 'the customer that was asked for';
COMMENT ON COLUMN meta.window_caps.days IS 'at most so many days';
COMMENT ON COLUMN meta.window_caps.months IS 'at most so many calendar months';
COMMENT ON COLUMN meta.window_caps.learned_at_utc IS 'when this was learned, in UTC';
COMMENT ON COLUMN meta.window_caps.page_size IS 'at most so many rows a page; 0: only asked without pages';
