-- For which offices does each loaded month count?
-- One row per report, customer and month in the ledger, and office that the customer answers for in any month.
-- A group's answer may have no row of an office. From the first to the last month with an entry of the office (see
-- staging.customer_offices), that means zero. In other months the group does not answer for the office.
-- An office that moved to another group belongs to the first group only in answers read before the move, even if later
-- answers of that group still have its rows. It belongs to the other group only in answers read since.
-- Columns:
--   office_id: customer id of the office
--   is_own: whether the customer is that office
--   has_left: whether the office had moved away from the customer when the answer was read
--   has_entries: whether the customer answers for the office in the month, even if without a row of it
SELECT
    months.*,
    offices.office_id,
    months.customer_id = offices.office_id AS is_own,
    NOT is_own AND offices.has_moved AND coalesce(months.run_began_at_utc > offices.latest_run_utc, false) AS has_left,
    is_own OR (
        coalesce(months.month BETWEEN offices.first_month AND offices.last_month, false)
        AND NOT (has_left OR coalesce(months.run_began_at_utc <= offices.came_after_utc, false))
    ) AS has_entries
FROM staging.months AS months
INNER JOIN staging.customer_offices AS offices USING (customer_id)
