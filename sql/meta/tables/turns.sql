-- Months that were never read and wait for their first turn, as they are asked for by turns.
-- Columns:
--   report: name of the report in the catalogue
--   customer: the customer that is asked for
--   month: first day of the month
--   due_on: the day in whose night it is asked for
CREATE TABLE IF NOT EXISTS meta.turns (
    report VARCHAR,
    customer VARCHAR,
    month DATE,
    due_on DATE
);
