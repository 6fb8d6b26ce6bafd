-- Requests to the service by day, customer and report.
-- Columns:
--   day: the day, in UTC
--   customer: the requested customer
--   report: name of the report in the catalogue
--   requests: requests sent, every try counted
--   repeated: requests that repeated an earlier try
--   failed: requests without a usable answer
--   bytes: bytes received
--   seconds: seconds spent waiting for answers
CREATE TABLE IF NOT EXISTS meta.requests_by_day (
    day DATE,
    customer VARCHAR,
    report VARCHAR,
    requests BIGINT,
    repeated BIGINT,
    failed BIGINT,
    bytes BIGINT,
    seconds DOUBLE
);
