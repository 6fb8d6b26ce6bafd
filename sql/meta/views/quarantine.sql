-- Rows that broke their documented type: how many, of which table, and why.
CREATE OR REPLACE VIEW meta.quarantine AS
SELECT
    report,
    customer,
    month,
    table_name,
    column_name,
    reason,
    sum(coalesce(row_count, 1))::BIGINT AS "rows",
    min(place) AS first_place,
    max(load_id) AS load_id,
    max(fetched_at_utc) AS fetched_at_utc
FROM meta.quarantine_rows
GROUP BY ALL;
COMMENT ON VIEW meta.quarantine IS 'Rows that broke their documented type: how many, of which table, and why.';
COMMENT ON COLUMN meta.quarantine.report IS 'name of the report';
COMMENT ON COLUMN meta.quarantine.customer IS 'the customer that was asked';
COMMENT ON COLUMN meta.quarantine.month IS 'first day of the month the rows belong to; null if unknown';
COMMENT ON COLUMN meta.quarantine.table_name IS 'the table of bi that the rows are missing in';
COMMENT ON COLUMN meta.quarantine.column_name IS 'the column that broke its type, if it was one';
COMMENT ON COLUMN meta.quarantine.reason IS 'what is wrong with the rows';
COMMENT ON COLUMN meta.quarantine."rows" IS 'how many they are';
COMMENT ON COLUMN meta.quarantine.first_place IS 'where in the answer the first of them stands';
COMMENT ON COLUMN meta.quarantine.load_id IS 'the latest load that had such rows; joins meta.loads';
COMMENT ON COLUMN meta.quarantine.fetched_at_utc IS 'when the service gave that answer, in UTC';
