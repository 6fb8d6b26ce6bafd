-- Which closed months have changed, and since when?
-- One row per office, month, measure and build of the marts that found a different amount in the office report.
-- These are the changes of marts.office_restatements, with a row for each measure. A month without an earlier amount
-- has no change.
-- marts.month_change_reasons states why the amounts changed.
-- The changes of one measure of a month may be added up. Never add up measures.
-- Key: office_id, month, measure, noted_at_utc
-- Columns:
--   noted_at_utc: time of the newest answer in the file when the change was found
--   noted_on: the day of noted_at_utc, in the chain's time zone
--   office_id: customer id of the office
--   office_name: name of the office
--   month: first day of the month
--   measure: commission, sold_total_price or sold_estate_parts, as in marts.office_month
--   amount_before: the amount before the change; currency and tax basis as in marts.office_month
--   amount_after: the amount after the change; currency and tax basis as in marts.office_month
--   difference: amount_after less amount_before
--   over_since_utc: when the month was first read as over; earlier changes do not count
--   known_since_utc: when amount_before was first read after the month was over; the change came later
--   load_id_before: the load of the earlier total; joins meta.loads
--   load_id_after: the load of the later total; joins meta.loads
--   _customer: the customer whose answer showed the later total
--   _month: first day of the month of that answer
--   _load_id: the load of that answer; joins meta.loads
WITH measured AS (
    SELECT
        *,
        amount_of(measure, commission_before, price_before, estate_parts_before) AS amount_before,
        amount_of(measure, commission_after, price_after, estate_parts_after) AS amount_after
    FROM marts.office_restatements
    CROSS JOIN (SELECT unnest(['commission', 'sold_total_price', 'sold_estate_parts']) AS measure)
),

first_over AS (
    SELECT office_id, month, min(valid_from_utc) AS over_since_utc
    FROM marts.month_total_versions
    WHERE report = 'commission_office' AND NOT is_open
    GROUP BY ALL
)

SELECT
    measured.noted_at_utc,
    local_day(measured.noted_at_utc) AS noted_on,
    measured.office_id,
    measured.office_name,
    measured.month,
    measured.measure,
    measured.amount_before::DECIMAL(22, 8) AS amount_before,
    measured.amount_after::DECIMAL(22, 8) AS amount_after,
    (measured.amount_after - measured.amount_before)::DECIMAL(22, 8) AS difference,
    first_over.over_since_utc,
    lag(measured.noted_at_utc, 1, first_over.over_since_utc) OVER (
        PARTITION BY measured.office_id, measured.month, measured.measure ORDER BY measured.noted_at_utc
    ) AS known_since_utc,
    measured.load_id_before,
    measured.load_id_after,
    measured._customer,
    measured._month,
    measured._load_id
FROM measured
INNER JOIN first_over USING (office_id, month)
WHERE measured.amount_before <> measured.amount_after
ORDER BY measured.noted_at_utc, measured.office_id, measured.month, measured.measure
