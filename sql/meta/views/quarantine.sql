-- Rows that broke their documented type: how many, of which table, and why.
CREATE OR REPLACE VIEW meta.quarantine AS
SELECT
    report,
    customer,
    month,
    table_name,
    column_name,
    reason,
    count(*) AS "rows",
    min(place) AS first_place,
    max(load_id) AS load_id,
    max(fetched_at_utc) AS fetched_at_utc
FROM meta.quarantine_rows
GROUP BY ALL;
COMMENT ON VIEW meta.quarantine IS 'Rows that broke their documented type: how many, of which table, and why.';
