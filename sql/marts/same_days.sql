-- How does the current month, and the year up to it, compare with the same days of last year?
-- One row per level, member (office, brand, region, chain or user) and period, if an office of the member is compared.
-- Sales count by day of contract, each agent's share at the agent's office. A sale without agents counts whole at the
-- listing office. Other commission has no day and is left out.
-- The current month counts through the day before the office's sales were last read.
-- An office is compared if two things are true:
-- 1. The sales of every month in both periods are loaded and lack no rows. Each month is loaded to its end; only the
-- current one may end earlier.
-- 2. There is a day to compare: the current month reaches at least the first day of the period.
-- Other offices are left out of both sums.
-- A user is compared if three things are true:
-- 1. Every office the user was at in either period is compared.
-- 2. The user was at one of them in the first month of the earlier period.
-- 3. The user sold something in the compared days of either year.
-- Example: September was last read on the 11th. Sales signed on 1 to 10 September are compared with those signed on 1
-- to 10 September of last year.
-- Key: level, member_id, period
-- Columns:
--   level: office, brand, region, chain or user; never add up two levels
--   member_id: customer id of the office, id of the user, or the brand or region. Null in two cases: for the chain; for
--     an unknown brand or region
--   member_name: name of the office, brand, region or user
--   period: month, or year to date: from January to the month
--   month: first day of the current month: the newest open month with a known commission of any office
--   first_on: first day of the period
--   until_on: last compared day; of several offices, the latest
--   sold_commission: commission from sales signed in the compared days, by share; currency not documented, tax basis
--     as declared in marts.tax_basis
--   sold_commission_before: commission from sales signed in the same days of last year; currency and tax
--     basis as for sold_commission
--   sold_estate_parts: homes sold in the compared days
--   sold_estate_parts_before: homes sold in the same days of last year
--   sold_total_price: prices of the homes sold in the compared days, by share; currency not documented
--   sold_total_price_before: prices of the homes sold in the same days of last year, by share; currency not documented
--   office_count: offices that are compared; for a user, only those where the user sold something in either year
--   earlier_office_count: offices of office_count whose days end before until_on, because they were read earlier
--   missing_offices: names of offices that are expected in the month and not compared. Null in two cases: if none is
--     missing; in rows of users
WITH current_month AS (
    SELECT max(month) AS month FROM marts.office_month WHERE is_open AND commission IS NOT NULL
),

periods AS (
    SELECT
        month,
        unnest([
            {'period': 'month', 'first_on': month},
            {'period': 'year to date', 'first_on': date_trunc('year', month)::DATE}
        ], recursive := true)
    FROM current_month
    WHERE month IS NOT NULL
),

offices_read AS (
    SELECT
        periods.period,
        periods.month,
        periods.first_on,
        sources.office_id,
        any_value(least(local_day(sources.fetched_at_utc) - 1, last_day(periods.month)))
            FILTER (sources.month = periods.month) AS until_on
    FROM periods
    INNER JOIN marts.office_sources AS sources
        ON sources.month BETWEEN periods.first_on AND periods.month
        OR sources.month BETWEEN periods.first_on - INTERVAL 1 YEAR AND periods.month - INTERVAL 1 YEAR
    WHERE sources.report = 'sales' AND NOT sources.lacks_rows AND (NOT sources.is_open OR sources.month = periods.month)
    GROUP BY periods.period, periods.month, periods.first_on, sources.office_id
    HAVING count(*) = 2 * (datediff('month', periods.first_on, periods.month) + 1)
        AND until_on >= periods.first_on
),

sold_shares AS (
    SELECT
        coalesce(shares.user_office_id, sales.office_id) AS office_id,
        shares.user_id,
        sales.contract_on,
        CASE WHEN shares.estate_id IS NULL THEN sales.commission ELSE shares.commission END AS commission,
        CASE WHEN shares.estate_id IS NULL THEN 1 ELSE shares.commission_share END AS estate_parts,
        CASE WHEN shares.estate_id IS NULL THEN sales.final_price ELSE shares.final_price_part END AS price
    FROM marts.sales AS sales
    INNER JOIN current_month ON sales.month BETWEEN date_trunc('year', current_month.month) - INTERVAL 1 YEAR AND current_month.month
    LEFT JOIN marts.sale_shares AS shares ON shares.estate_id = sales.estate_id
),

sold_by_office AS (
    SELECT
        offices.period,
        offices.office_id,
        sold_shares.user_id,
        sold_shares.contract_on >= offices.first_on AS is_now,
        sum(sold_shares.commission) AS commission,
        sum(sold_shares.estate_parts) AS estate_parts,
        sum(sold_shares.price) AS price
    FROM offices_read AS offices
    INNER JOIN sold_shares
        ON sold_shares.office_id = offices.office_id
        AND (
            sold_shares.contract_on BETWEEN offices.first_on AND offices.until_on
            OR sold_shares.contract_on BETWEEN offices.first_on - INTERVAL 1 YEAR AND offices.until_on - INTERVAL 1 YEAR
        )
    GROUP BY ALL
),

offices_of_users AS (
    SELECT periods.period, periods.first_on, user_months.user_id, user_months.office_id, min(user_months.month) AS first_month
    FROM periods
    INNER JOIN (
        SELECT user_id, office_id, month FROM marts.user_month WHERE office_id IS NOT NULL
        UNION
        SELECT user_id, office_id, date_trunc('month', contract_on)::DATE FROM sold_shares WHERE user_id IS NOT NULL
    ) AS user_months
        ON user_months.month BETWEEN periods.first_on AND periods.month
        OR user_months.month BETWEEN periods.first_on - INTERVAL 1 YEAR AND periods.month - INTERVAL 1 YEAR
    GROUP BY periods.period, periods.first_on, user_months.user_id, user_months.office_id
),

users_compared AS (
    SELECT offices.period, offices.user_id
    FROM offices_of_users AS offices
    LEFT JOIN offices_read USING (period, office_id)
    GROUP BY offices.period, offices.first_on, offices.user_id
    HAVING count(*) = count(offices_read.until_on)
        AND min(offices.first_month) <= offices.first_on - INTERVAL 1 YEAR
),

members AS (
    SELECT
        levels.level, levels.member_id, levels.member_name, offices.*,
        sold_by_office.* EXCLUDE (period, office_id, user_id)
    FROM offices_read AS offices
    INNER JOIN marts.office_levels AS levels USING (office_id)
    LEFT JOIN sold_by_office USING (period, office_id)
    UNION ALL BY NAME
    SELECT
        'user' AS level, users_compared.user_id AS member_id, users.user_label AS member_name, offices.*,
        sold_by_office.* EXCLUDE (period, office_id, user_id)
    FROM users_compared
    INNER JOIN sold_by_office USING (period, user_id)
    INNER JOIN offices_read AS offices USING (period, office_id)
    LEFT JOIN marts.users AS users USING (user_id)
),

offices_missing AS (
    SELECT
        levels.level,
        levels.member_id,
        periods.period,
        string_agg(coalesce(coverage.office_name, coverage.office_id), ', ' ORDER BY coverage.office_name, coverage.office_id)
            AS missing_offices
    FROM periods
    INNER JOIN marts.office_coverage AS coverage USING (month)
    INNER JOIN marts.office_levels AS levels USING (office_id)
    ANTI JOIN offices_read USING (period, office_id)
    GROUP BY levels.level, levels.member_id, periods.period
),

latest AS (
    SELECT *, max(until_on) OVER (PARTITION BY level, member_id, period) AS latest_on FROM members
)

SELECT
    latest.level,
    latest.member_id,
    any_value(latest.member_name) AS member_name,
    latest.period,
    latest.month,
    latest.first_on,
    latest.latest_on AS until_on,
    total_of(bool_or(is_now), sum(commission) FILTER (is_now))::DECIMAL(18, 4) AS sold_commission,
    total_of(bool_or(NOT is_now), sum(commission) FILTER (NOT is_now))::DECIMAL(18, 4) AS sold_commission_before,
    total_of(bool_or(is_now), sum(estate_parts) FILTER (is_now))::DECIMAL(19, 8) AS sold_estate_parts,
    total_of(bool_or(NOT is_now), sum(estate_parts) FILTER (NOT is_now))::DECIMAL(19, 8) AS sold_estate_parts_before,
    total_of(bool_or(is_now), sum(price) FILTER (is_now))::DECIMAL(18, 4) AS sold_total_price,
    total_of(bool_or(NOT is_now), sum(price) FILTER (NOT is_now))::DECIMAL(18, 4) AS sold_total_price_before,
    count(DISTINCT latest.office_id) AS office_count,
    count(DISTINCT latest.office_id) FILTER (latest.until_on < latest.latest_on) AS earlier_office_count,
    any_value(offices_missing.missing_offices) AS missing_offices
FROM latest
LEFT JOIN offices_missing
    ON (offices_missing.level, offices_missing.period) = (latest.level, latest.period)
    AND offices_missing.member_id IS NOT DISTINCT FROM latest.member_id
GROUP BY latest.level, latest.member_id, latest.period, latest.month, latest.first_on, latest.latest_on
ORDER BY latest.level, latest.member_id, latest.period
