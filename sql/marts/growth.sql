-- How much more was earned than a year before: in total, and by the offices that were open all the time?
-- One row per level, member (office, brand, region or chain), period and month that is over, if anything is known
-- about the year before: none if the member's offices began later.
-- Growth in total includes offices that opened or closed. Like-for-like growth covers only offices that were open in
-- all months of both periods; compared_office_count is their number. Show both kinds of growth together.
-- Example: ten offices earned 100 a year before and 102 now; an eleventh has opened and earned 8. Growth in total is
-- 10 %, like-for-like growth 2 %.
-- Kind: view
-- Key: level, member_id, period, month
-- Columns:
--   level: office, brand, region or chain; never add up two levels
--   member_id: customer id of the office, or the brand or region. Null in two cases: for the chain; for an unknown
--     brand or region
--   period: month, year to date, or twelve months
--   month: first day of the last month of the period
--   commission: commission of all offices; null if a month of an office in either period is not known; currency not
--     documented, tax basis as declared in marts.tax_basis
--   commission_before: commission of all offices in the same months a year before; null if commission is null
--   growth_share: growth in total, 0.1 for 10 percent. Null in two cases: if commission is null; if commission_before
--     is zero
--   like_for_like_commission: commission of the offices that are compared
--   like_for_like_commission_before: commission of the offices that are compared, in the same months a year before
--   like_for_like_growth_share: growth of the offices that are compared, 0.1 for 10 percent
--   compared_offices: customer ids of the offices that are compared, by id; null without one
--   compared_office_count: offices that were open, and whose commission is known, in each month of both periods
--   office_count: offices with a month in either period, except those that had closed before both periods
--   missing_offices: names of offices with an unknown month in either period; null if there is none
WITH periods AS (
    SELECT month, unnest([
        {'period': 'month', 'first_month': month},
        {'period': 'year to date', 'first_month': date_trunc('year', month)::DATE},
        {'period': 'twelve months', 'first_month': (month - INTERVAL 11 MONTH)::DATE}
    ], recursive := true)
    FROM (SELECT DISTINCT month FROM marts.level_office_month WHERE is_whole AND NOT is_open)
),

months AS (
    SELECT
        level, member_id, office_id, month, commission,
        is_whole AND NOT is_open AS is_known,
        min(month) OVER of_office AS oldest_month,
        max(began_month) OVER of_office AS began_month,
        max(closed_after_month) OVER of_office AS closed_after_month
    FROM marts.level_office_month
    WINDOW of_office AS (PARTITION BY level, member_id, office_id)
),

offices AS (
    SELECT
        months.level, months.member_id, periods.period, periods.month, months.office_id,
        sum(months.commission) FILTER (months.month >= periods.first_month) AS commission,
        sum(months.commission) FILTER (months.month < periods.first_month AND coalesce(months.month >= months.began_month, true))
            AS commission_before,
        bool_and(months.is_known)
        AND (
            any_value(months.oldest_month) <= min(periods.first_month) - INTERVAL 1 YEAR
            OR any_value(months.began_month) IS NOT NULL
        ) AS is_known,
        bool_and(months.is_known)
        AND count(*) = 2 * (1 + date_diff('month', min(periods.first_month), periods.month))
        AND coalesce(any_value(months.began_month) <= min(periods.first_month) - INTERVAL 1 YEAR, true)
        AND coalesce(any_value(months.closed_after_month) >= periods.month, true) AS is_compared
    FROM periods
    INNER JOIN months
        ON months.month BETWEEN periods.first_month AND periods.month
        OR months.month BETWEEN periods.first_month - INTERVAL 1 YEAR AND periods.month - INTERVAL 1 YEAR
    WHERE coalesce(months.closed_after_month >= periods.first_month - INTERVAL 1 YEAR, true)
    GROUP BY months.level, months.member_id, periods.period, periods.month, months.office_id
)

SELECT
    level,
    member_id,
    period,
    month,
    CASE WHEN bool_and(is_known) THEN coalesce(sum(commission), 0) END::DECIMAL(18, 4) AS commission,
    CASE WHEN bool_and(is_known) THEN coalesce(sum(commission_before), 0) END::DECIMAL(18, 4) AS commission_before,
    (CASE WHEN bool_and(is_known) THEN sum(commission) / nullif(sum(commission_before), 0) - 1 END)::DECIMAL(19, 8) AS growth_share,
    (sum(commission) FILTER (is_compared))::DECIMAL(18, 4) AS like_for_like_commission,
    (sum(commission_before) FILTER (is_compared))::DECIMAL(18, 4) AS like_for_like_commission_before,
    (sum(commission) FILTER (is_compared) / nullif(sum(commission_before) FILTER (is_compared), 0) - 1)::DECIMAL(19, 8)
        AS like_for_like_growth_share,
    string_agg(office_id, ', ' ORDER BY office_id) FILTER (is_compared) AS compared_offices,
    count(*) FILTER (is_compared) AS compared_office_count,
    count(*) AS office_count,
    string_agg(coalesce(offices.office_name, office_id), ', ' ORDER BY office_id) FILTER (NOT is_known) AS missing_offices
FROM (SELECT sums.*, names.office_name FROM offices AS sums LEFT JOIN marts.offices AS names USING (office_id)) AS offices
GROUP BY level, member_id, period, month
HAVING count(commission_before) > 0
ORDER BY level, member_id, period, month
