-- Whose answer counts for an office?
-- One row per report, office and month that is held: the customer whose answer counts, and its load.
-- A group and one of its offices may both be configured, and both then answer for the office: the office's own
-- answer counts, else that of the first customer by id, never both. What is not here is unknown, not zero.
SELECT
    months.report,
    offices.office_id,
    months.month,
    months.customer_id,
    months.load_id,
    months.fetched_at_utc,
    months.loaded_at_utc,
    months.is_open
FROM staging.months AS months
INNER JOIN staging.customer_offices AS offices USING (customer_id)
QUALIFY row_number() OVER (
    PARTITION BY months.report, offices.office_id, months.month
    ORDER BY months.customer_id = offices.office_id DESC, months.customer_id
) = 1
ORDER BY report, office_id, month
