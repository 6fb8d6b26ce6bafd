-- Months that were never read and wait for their first request, a few each nightly run.
-- Columns:
--   report: name of the report in the catalogue
--   customer: the requested customer
--   month: first day of the month
--   due_on: the day whose nightly run requests it
CREATE TABLE IF NOT EXISTS meta.turns (
    report VARCHAR,
    customer VARCHAR,
    month DATE,
    due_on DATE
);
