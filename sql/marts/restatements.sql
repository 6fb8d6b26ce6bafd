-- What changed afterwards in months that were over?
-- One row per report, office, month and build that found different totals from the build before.
-- Only months that were over at the reading before are here: an open month grows, which is no restatement.
-- Builds compare totals. Two changes between two builds are one row. Changes that cancel each other out make no row.
-- Never add up reports: the office report and the sales list both show the same change. marts.office_restatements has
-- the office report alone.
-- Kind: view
-- Key: report, office_id, month, noted_at_utc
-- Columns:
--   report: commission_office, sales, running_commissions or tips_and_leads; the first two show the same change, so
--     take one of them
--   noted_at_utc: time of the newest answer in the file when the change was found
--   office_id: customer id of the office
--   month: first day of the month
--   months_later: months between the month and noted_at_utc
--   row_count_change: rows added, or removed if negative
--   commission_before: commission before the change; currency as in marts.month_total_versions
--   commission_after: commission after the change; currency as in marts.month_total_versions
--   commission_change: commission_after less commission_before
--   price_before: prices of what was sold, before the change; currency not documented
--   price_after: prices of what was sold, after the change; currency not documented
--   price_change: price_after less price_before
--   estate_parts_before: homes sold, before the change
--   estate_parts_after: homes sold, after the change
--   estate_parts_change: estate_parts_after less estate_parts_before
--   sale_change_count: changes of single sales found by the same build in the sales list of the same office and
--     month; marts.sale_changes has them, joined by noted_at_utc, office_id and month
--   load_id_before: the load of the earlier total; joins meta.loads
--   load_id_after: the load of the later total; joins meta.loads
--   _customer: the customer whose answer showed the later total
--   _month: first day of the month of the answer of _customer
--   _load_id: load of the answer of _customer; joins meta.loads
WITH compared AS (
    SELECT
        *,
        lag(is_open) OVER totals AS was_open,
        lag(row_count) OVER totals AS row_count_before,
        lag(commission) OVER totals AS commission_before,
        lag(price) OVER totals AS price_before,
        lag(estate_parts) OVER totals AS estate_parts_before,
        lag(_load_id) OVER totals AS load_id_before
    FROM marts.month_total_versions
    WINDOW totals AS (PARTITION BY report, office_id, month ORDER BY version)
),

sale_changes_counted AS (
    SELECT noted_at_utc, office_id, month, count(*) AS sale_change_count
    FROM marts.sale_changes
    GROUP BY ALL
)

SELECT
    compared.valid_from_utc AS noted_at_utc,
    compared.report,
    compared.office_id,
    offices.office_name,
    compared.month,
    date_diff('month', compared.month, compared.valid_from_utc::DATE) AS months_later,
    compared.row_count - compared.row_count_before AS row_count_change,
    compared.commission_before,
    compared.commission AS commission_after,
    (compared.commission - compared.commission_before)::DECIMAL(18, 4) AS commission_change,
    compared.price_before,
    compared.price AS price_after,
    (compared.price - compared.price_before)::DECIMAL(18, 4) AS price_change,
    compared.estate_parts_before,
    compared.estate_parts AS estate_parts_after,
    (compared.estate_parts - compared.estate_parts_before)::DECIMAL(19, 8) AS estate_parts_change,
    coalesce(sale_changes_counted.sale_change_count, 0) AS sale_change_count,
    compared.load_id_before,
    compared._load_id AS load_id_after,
    compared._customer,
    compared._month,
    compared._load_id
FROM compared
LEFT JOIN marts.offices AS offices USING (office_id)
LEFT JOIN sale_changes_counted
    ON sale_changes_counted.noted_at_utc = compared.valid_from_utc
    AND (sale_changes_counted.office_id, sale_changes_counted.month) = (compared.office_id, compared.month)
WHERE NOT was_open
    AND (row_count, commission, price, estate_parts)
    IS DISTINCT FROM (row_count_before, commission_before, price_before, estate_parts_before)
ORDER BY noted_at_utc, report, office_id, compared.month, version
