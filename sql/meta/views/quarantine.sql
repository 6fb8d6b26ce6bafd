-- Rows that did not fit their table: how many, of which table, and why.
-- Columns:
--   report: name of the report
--   customer: the requested customer
--   month: first day of the month the rows belong to; null if unknown
--   table_name: the table of bi that the rows are missing in
--   column_name: the column that did not fit; null if the whole row did not
--   reason: why the rows did not fit
--   rows: the number of rows
--   first_place: where the first of these rows is in the answer
--   load_id: the latest load that had such rows; joins meta.loads
--   fetched_at_utc: when the service gave that answer, in UTC
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
