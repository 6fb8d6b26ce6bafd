-- The longest window and the largest page that the service was seen to accept, if it rejected more.
-- Columns:
--   report: name of the report in the catalogue
--   customer: the requested customer
--   days: at most this many days
--   months: at most this many calendar months
--   learned_at_utc: when this was learned, in UTC
--   page_size: at most this many rows a page; 0 if the report is requested only without pages
--   rows: the service cuts an answer off after this many rows
--   whole_rows: the largest round number of rows in an answer that was not cut off
CREATE TABLE IF NOT EXISTS meta.window_caps (
    report VARCHAR,
    customer VARCHAR,
    days INTEGER,
    months INTEGER,
    learned_at_utc TIMESTAMP,
    page_size INTEGER,
    rows INTEGER,
    whole_rows INTEGER
);
