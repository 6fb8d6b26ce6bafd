-- What did each month add up to, at every reading?
-- One row per report, office, month and total; the one without valid_to_utc is the total of now.
-- A total begins to be known when a build of the marts first finds it, so it is exact to the night and not to the
-- minute; what changed twice between two builds was never seen.
-- Key: report, office_id, month, valid_from_utc
-- Columns:
--   version: 1 for the oldest, 2 for the next
--   valid_from_utc: when the service gave the newest answer that was in the file as the total was found
--   valid_to_utc: the same of the next total; null for the total of now
--   _customer: the customer whose answer showed the total
--   _month: month of that answer
--   _load_id: load of that answer; joins meta.loads
WITH versions AS (
    SELECT * FROM staging.month_totals_kept
    UNION ALL BY NAME
    SELECT * FROM marts.month_totals
),

changed AS (
    SELECT *
    FROM versions
    QUALIFY version = 1 OR (row_count, commission, price, estate_parts, is_open)
        IS DISTINCT FROM lag((row_count, commission, price, estate_parts, is_open)) OVER (
            PARTITION BY report, office_id, month ORDER BY version
        )
)

SELECT
    report,
    office_id,
    month,
    version,
    noted_at_utc AS valid_from_utc,
    lead(noted_at_utc) OVER (PARTITION BY report, office_id, month ORDER BY version) AS valid_to_utc,
    is_open,
    row_count,
    commission,
    price,
    estate_parts,
    customer_id AS _customer,
    month AS _month,
    load_id AS _load_id
FROM changed
ORDER BY report, office_id, month, version
