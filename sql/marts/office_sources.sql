-- Whose answer counts for an office?
-- One row per report, office and month that is held: the customer whose answer counts, and its load.
-- Several customers may answer for one office: a group, the office itself, one that has been switched off since. The
-- newest answer counts, whoever gave it; of two equally new ones, read in one run, the office's own; never both. A customer that is
-- switched off, removed or refused counts only while nobody else answers for that office and month; then
-- is_refreshed is false. A group counts for an office from the first to the last month with an entry of it, and beyond
-- them only where nobody else does, so that an office that has left a group is not zero because the group says nothing.
-- What is not here is unknown, not zero; and so is the rest of a month where is_cut_short, and what is missing where
-- lacks_rows.
-- Key: report, office_id, month
WITH answered AS (
    SELECT
        months.*,
        offices.office_id,
        months.customer_id = offices.office_id AS is_own,
        is_own OR coalesce(months.month BETWEEN offices.first_month AND offices.last_month, false) AS has_entries
    FROM staging.months AS months
    INNER JOIN staging.customer_offices AS offices USING (customer_id)
)

SELECT
    report,
    office_id,
    month,
    customer_id,
    load_id,
    fetched_at_utc,
    loaded_at_utc,
    is_open,
    source_state,
    is_refreshed,
    is_cut_short,
    lacks_rows,
    is_partial,
    is_growing,
    is_current
FROM answered
QUALIFY row_number() OVER (
    PARTITION BY report, office_id, month
    ORDER BY has_entries DESC, is_refreshed DESC, run_read_at_utc DESC, is_own DESC, customer_id
) = 1
ORDER BY report, office_id, month
