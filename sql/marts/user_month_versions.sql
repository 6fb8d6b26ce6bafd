-- What did each user earn in a month, at every reading?
-- One row per user, month and total. The row without valid_to_utc is the current total, as in marts.user_month.
-- Two users may have the same name: group by user_id; marts.users has a label for each.
-- Writings and valuations are null in totals that were found before these two were stored.
-- A total is dated by the build of the marts that first found it: exact to the nightly run, not to the minute.
-- Key: user_id, month, valid_from_utc
-- Columns:
--   user_name: name of the user; two users may have the same name: group by user_id
--   is_present: whether marts.user_month had the user and month; otherwise there are no amounts
--   commission: commission from sales, valuations and writing assignments together, by share; currency not
--     documented, tax basis as declared in marts.tax_basis
--   sold_commission: commission from sales alone, by share; currency not documented, tax basis as declared in
--     marts.tax_basis
--   running_commission_sek_excl_vat: commissions earned in steps, without VAT, in SEK; never add it to commission: it
--     is not documented whether one contains the other
--   version: 1 for the oldest, 2 for the next
--   valid_from_utc: time of the newest user report or running commissions in the file when the total was found
--   valid_to_utc: valid_from_utc of the next total; null for the current total
--   is_restatement: whether the total was found after the day on which the month was over. That is the day on which the
--     office report of the user's office was first read as over or, if there is none, the first day of the next month
WITH latest AS (
    SELECT *
    FROM meta.user_month_versions
    QUALIFY version = max(version) OVER (PARTITION BY user_id, month)
),

changed AS (
    SELECT
        coalesce(now.user_id, latest.user_id) AS user_id,
        coalesce(now.month, latest.month) AS month,
        coalesce(latest.version, 0) + 1 AS version,
        now.user_id IS NOT NULL AS is_present,
        now.commission, now.sold_commission, now.sold_total_price, now.sold_estate_parts,
        now.running_commission_sek_excl_vat, now.writing_parts, now.valuation_parts,
        (
            SELECT max(fetched_at_utc) FROM staging.months WHERE report IN ('commission_user', 'running_commissions')
        ) AS noted_at_utc
    FROM marts.user_month AS now
    FULL JOIN latest ON latest.user_id = now.user_id AND latest.month = now.month
    WHERE (
        now.user_id IS NOT NULL, now.commission, now.sold_commission, now.sold_total_price,
        now.sold_estate_parts, now.running_commission_sek_excl_vat
    ) IS DISTINCT FROM (
        latest.is_present, latest.commission, latest.sold_commission, latest.sold_total_price,
        latest.sold_estate_parts, latest.running_commission_sek_excl_vat
    )
        -- a total that was stored without these two counts has not changed just because they are known now
        OR (latest.valuation_parts IS NOT NULL AND now.valuation_parts IS DISTINCT FROM latest.valuation_parts)
        OR (latest.writing_parts IS NOT NULL AND now.writing_parts IS DISTINCT FROM latest.writing_parts)
),

months_over AS (
    SELECT office_id, month, local_day(min(valid_from_utc)) AS over_since_on
    FROM marts.month_total_versions
    WHERE report = 'commission_office' AND NOT is_open
    GROUP BY ALL
)

SELECT
    versions.user_id,
    users.user_name,
    versions.month,
    versions.version,
    versions.is_present,
    versions.commission,
    versions.sold_commission,
    versions.sold_total_price,
    versions.sold_estate_parts,
    versions.running_commission_sek_excl_vat,
    versions.writing_parts,
    versions.valuation_parts,
    versions.noted_at_utc AS valid_from_utc,
    lead(versions.noted_at_utc) OVER (PARTITION BY versions.user_id, versions.month ORDER BY versions.version) AS valid_to_utc,
    local_day(versions.noted_at_utc) > coalesce(months_over.over_since_on, (versions.month + INTERVAL 1 MONTH)::DATE) AS is_restatement
FROM (SELECT * FROM meta.user_month_versions UNION ALL BY NAME SELECT * FROM changed) AS versions
LEFT JOIN marts.users AS users USING (user_id)
LEFT JOIN marts.user_month AS user_months ON user_months.user_id = versions.user_id AND user_months.month = versions.month
LEFT JOIN months_over ON months_over.office_id = user_months.office_id AND months_over.month = versions.month
ORDER BY versions.month, versions.user_id, versions.version
