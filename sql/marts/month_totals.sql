-- What does each held month add up to now?
-- One row per report, office and month that is held; a month that had rows and has none any more is zero.
-- An amount that no row of the month has is null, as is a commission without a row where rows could not be loaded.
-- Every change of these totals is remembered in meta.month_totals at the end of a build; marts.restatements
-- reads it.
-- Key: report, office_id, month
-- Columns:
--   month: first day of the month
--   office_id: customer id of the office
--   version: how many totals the month has had, this one included, if it is another than the one remembered
--     last
--   noted_at_utc: when the service gave the newest answer that such totals are worked out from
--   row_count: rows: of the office report, sales, events, or leads and tips
--   commission: commission of the office report or of the sales, whose currency is not documented, or earned in
--     steps, in SEK; leads have none
--   price: prices of what was sold, currency not documented; running commissions and leads have none
--   estate_parts: homes sold; running commissions and leads have none
WITH counted AS (
    SELECT
        'commission_office' AS report, customer_id, office_id, month, count(*) AS row_count,
        sum(commission) AS commission, sum(sold_total_price) AS price, sum(sold_estate_parts) AS estate_parts
    FROM staging.commission_office
    GROUP BY ALL
    UNION ALL
    SELECT 'sales', _customer, office_id, _month, count(*), sum(commission), sum(final_price), count(*)
    FROM marts.sales
    GROUP BY ALL
    UNION ALL
    SELECT 'running_commissions', _customer, office_id, month, count(*), sum_if_known(amount_sek_excl_vat), NULL, NULL
    FROM marts.running_commissions
    GROUP BY ALL
    UNION ALL
    SELECT 'tips_and_leads', _customer, office_id, _month, count(*), NULL, NULL, NULL
    FROM marts.leads
    GROUP BY ALL
),

remembered AS (
    SELECT report, office_id, month, count(*) AS version_count
    FROM staging.month_totals_kept
    GROUP BY ALL
),

held AS (
    SELECT
        report, office_id, month, customer_id, load_id, loaded_at_utc, fetched_at_utc, is_open,
        lacks_rows AND report = 'commission_office' AS lacks_rows
    FROM marts.office_sources
    WHERE report IN ('commission_office', 'sales', 'running_commissions', 'tips_and_leads')
)

SELECT
    held.report,
    held.office_id,
    held.month,
    held.customer_id,
    held.load_id,
    held.loaded_at_utc,
    held.is_open,
    coalesce(remembered.version_count, 0) + 1 AS version,
    max(held.fetched_at_utc) OVER () AS noted_at_utc,
    coalesce(counted.row_count, 0) AS row_count,
    total_held(held.report <> 'tips_and_leads', counted.row_count > 0, held.lacks_rows, counted.commission)::DECIMAL(18, 4) AS commission,
    total_held(held.report IN ('commission_office', 'sales'), counted.row_count > 0, held.lacks_rows, counted.price)
        ::DECIMAL(18, 4) AS price,
    total_held(held.report IN ('commission_office', 'sales'), counted.row_count > 0, held.lacks_rows, counted.estate_parts)
        ::DECIMAL(19, 8) AS estate_parts
FROM held
LEFT JOIN counted USING (report, customer_id, office_id, month)
LEFT JOIN remembered USING (report, office_id, month)
ORDER BY report, office_id, month
