-- Months that were never read and wait for their first turn, as they are asked for by turns.
CREATE TABLE IF NOT EXISTS meta.turns (
    report VARCHAR,
    customer VARCHAR,
    month DATE,
    due_on DATE
);
COMMENT ON TABLE meta.turns IS 'Months that were never read and wait for their first turn, as they are asked for by turns.';
COMMENT ON COLUMN meta.turns.report IS 'name of the report in the catalogue';
COMMENT ON COLUMN meta.turns.customer IS 'the customer that is asked for';
COMMENT ON COLUMN meta.turns.month IS 'first day of the month';
COMMENT ON COLUMN meta.turns.due_on IS 'the day in whose night it is asked for';
