-- For which offices does each month that is held count?
-- One row per report, customer and month in the ledger, and office that the customer answers for in any month.
-- A group says nothing of an office without a row in a month, which is zero there as long as the group answers for the
-- office: from the first to the last month with an entry of it. An office that has moved is none of the group's in
-- whatever was read of it since, while older answers still hold rows of the office.
-- Columns:
--   office_id: customer id of the office
--   is_own: whether the customer is that office
--   has_entries: whether the answer speaks of the office
SELECT
    months.*,
    offices.office_id,
    months.customer_id = offices.office_id AS is_own,
    is_own OR (
        coalesce(months.month BETWEEN offices.first_month AND offices.last_month, false)
        AND NOT (offices.has_moved AND coalesce(months.run_began_at_utc > offices.latest_run_utc, false))
    ) AS has_entries
FROM staging.months AS months
INNER JOIN staging.customer_offices AS offices USING (customer_id)
