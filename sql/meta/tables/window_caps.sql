-- The longest window and the largest page that the service was seen to accept, where it refused more.
-- Columns:
--   report: name of the report in the catalogue
--   customer: the requested customer
--   days: at most so many days
--   months: at most so many calendar months
--   learned_at_utc: when this was learned, in UTC
--   page_size: at most so many rows a page; 0: only asked without pages
--   rows: answers end after so many rows
--   whole_rows: the largest round number of rows after which an answer was seen not to end
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
