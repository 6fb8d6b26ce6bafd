-- What was the total of each month, at every reading?
-- One row per report, office, month and total. The row without valid_to_utc is the current total. When a month is
-- first read as over, a new row begins even if its total is the same.
-- A loaded month without rows is zero. An amount is null in two cases: no row of the month has it; or the office report
-- has no row of the office, but may lack one (marts.office_sources: lacks_rows or lacks_amount).
-- A total is dated by the build of the marts that first found it: exact to the nightly run, not to the minute. If a
-- total changed twice between two builds, only the later one is known.
-- Key: report, office_id, month, valid_from_utc
-- Columns:
--   month: first day of the month
--   office_id: customer id of the office
--   version: 1 for the oldest, 2 for the next
--   valid_from_utc: time of the newest answer in the file when the total was found
--   valid_to_utc: valid_from_utc of the next total; null for the current total
--   row_count: number of rows of the office report, of sales, of running commissions, or of leads and tips
--   commission: for the office report, its commission; for sales, their whole commissions; the currency of both is not
--     documented. For running commissions, their sum in SEK without VAT, and null if one of the amounts is unknown.
--     Null for leads
--   price: prices of what was sold, currency not documented; null for running commissions and leads
--   estate_parts: homes sold; null for running commissions and leads
--   _customer: the customer whose answer showed the total
--   _month: first day of the month of that answer
--   _load_id: the load of that answer; joins meta.loads
WITH sums AS (
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
    SELECT 'tips_and_leads', customer_id, office_id, month, count(*), NULL, NULL, NULL
    FROM marts.leads  -- a tip may come from an answer that does not count for the office
    INNER JOIN (FROM marts.office_sources WHERE report = 'tips_and_leads') AS sources USING (office_id, month)
    GROUP BY ALL
),

stored_versions AS (
    SELECT report, office_id, month, count(*) AS version_count
    FROM meta.month_totals
    GROUP BY ALL
),

loaded_months AS (
    SELECT
        report, office_id, month, customer_id, load_id, fetched_at_utc, is_open,
        (lacks_rows OR lacks_amount) AND report = 'commission_office' AS lacks_rows
    FROM marts.office_sources
    WHERE report IN ('commission_office', 'sales', 'running_commissions', 'tips_and_leads')
),

totals AS (
    SELECT
        loaded_months.report, loaded_months.office_id, loaded_months.month, loaded_months.customer_id,
        loaded_months.load_id, loaded_months.is_open,
        coalesce(stored_versions.version_count, 0) + 1 AS version,
        max(loaded_months.fetched_at_utc) OVER () AS noted_at_utc,
        coalesce(sums.row_count, 0) AS row_count,
        total_if_loaded(loaded_months.report <> 'tips_and_leads', sums.row_count > 0, loaded_months.lacks_rows, sums.commission)::DECIMAL(18, 4) AS commission,
        total_if_loaded(loaded_months.report IN ('commission_office', 'sales'), sums.row_count > 0, loaded_months.lacks_rows, sums.price)
            ::DECIMAL(18, 4) AS price,
        total_if_loaded(loaded_months.report IN ('commission_office', 'sales'), sums.row_count > 0, loaded_months.lacks_rows, sums.estate_parts)
            ::DECIMAL(19, 8) AS estate_parts
    FROM loaded_months
    LEFT JOIN sums USING (report, customer_id, office_id, month)
    LEFT JOIN stored_versions USING (report, office_id, month)
),

changed AS (
    SELECT *
    FROM (SELECT * EXCLUDE (loaded_at_utc) FROM meta.month_totals UNION ALL BY NAME SELECT * FROM totals)
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
