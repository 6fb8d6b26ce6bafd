-- Months to be read again because the service said that something was changed, or because reports disagree.
CREATE TABLE IF NOT EXISTS meta.changes (
    report VARCHAR,
    customer VARCHAR,
    month DATE,
    changed_at_utc TIMESTAMP,
    noticed_at_utc TIMESTAMP,
    estates BIGINT,
    load_id VARCHAR
);
COMMENT ON TABLE meta.changes IS
    'Months to be read again because the service said that something was changed, or because reports disagree.';
COMMENT ON COLUMN meta.changes.report IS 'name of the report in the catalogue';
COMMENT ON COLUMN meta.changes.customer IS 'the customer that was asked for';
COMMENT ON COLUMN meta.changes.month IS 'first day of the month';
COMMENT ON COLUMN meta.changes.changed_at_utc IS
    'when the latest change was made, in UTC, as far as told; where reports disagree, when the later one was read';
COMMENT ON COLUMN meta.changes.noticed_at_utc IS
    'when we were told of it first, in UTC; where reports disagree, when the later one was read';
COMMENT ON COLUMN meta.changes.estates IS
    'estates of the month that were named then; 0: none was, but reports disagree';
COMMENT ON COLUMN meta.changes.load_id IS
    'the question that told of it, as in meta.probes; where reports disagree, the load of the later one, as in meta.loads';
