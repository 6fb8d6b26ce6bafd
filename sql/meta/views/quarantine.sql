-- Rows that broke their documented type: how many, of which table, and why.
-- Columns:
--   report: name of the report
--   customer: the requested customer
--   month: first day of the month the rows belong to; null if unknown
--   table_name: the table of bi that the rows are missing in
--   column_name: the column that broke its type, if it was one
--   reason: what is wrong with the rows
--   rows: how many they are
--   first_place: where in the answer the first of them stands
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
