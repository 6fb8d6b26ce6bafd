-- How many of the earners of a year ago still earn, and how much do joiners and leavers account for?
-- One row per level, member (office, brand, region or chain) and month that is over and ends two years of loaded
-- months. Its last twelve months are compared with the twelve before.
-- A user who changed office left one office and joined the other, but stayed in the chain.
-- Kind: view
-- Key: level, member_id, month
-- Columns:
--   level: office, brand, region or chain, see marts.office_levels
--   member_id: customer id of the office, or the brand or region. Null in two cases: for the chain; for an unknown
--     brand or region
--   month: first day of the last of the twelve months
--   earner_count: users with commission in the twelve months
--   earlier_count: users with commission in the twelve months before
--   stayed_count: users with commission in both the twelve months and the twelve before
--   commission: commission of the twelve months; currency not documented, tax basis as declared in marts.tax_basis
--   joined_commission: commission of users who had none in the twelve months before
--   left_commission: commission in the twelve months before, of users who have none in the twelve months
--   top_ten_share: the ten highest earners' share of commission; null with fewer than 25 users
WITH earners AS (
    SELECT levels.level, levels.member_id, board.month, board.earner_id AS user_id, board.commission
    FROM marts.leaderboard AS board
    INNER JOIN marts.office_levels AS levels USING (office_id)
    WHERE board.earner_kind = 'user' AND board.period = 'twelve months' AND board.commission > 0
),

ranked AS (
    SELECT
        *,
        NULL AS earlier_commission,
        row_number() OVER (PARTITION BY level, member_id, month ORDER BY commission DESC) AS place
    FROM earners
    UNION ALL BY NAME
    SELECT * EXCLUDE (commission) REPLACE ((month + INTERVAL 1 YEAR)::DATE AS month), commission AS earlier_commission
    FROM earners
),

paired AS (
    SELECT
        level, member_id, month, user_id,
        any_value(commission) AS commission, any_value(earlier_commission) AS earlier_commission, any_value(place) AS place
    FROM ranked
    GROUP BY ALL
)

SELECT
    level,
    member_id,
    month,
    count(commission) AS earner_count,
    count(earlier_commission) AS earlier_count,
    count(commission) FILTER (earlier_commission IS NOT NULL) AS stayed_count,
    coalesce(sum(commission), 0)::DECIMAL(18, 4) AS commission,
    coalesce(sum(commission) FILTER (earlier_commission IS NULL), 0)::DECIMAL(18, 4) AS joined_commission,
    coalesce(sum(earlier_commission) FILTER (commission IS NULL), 0)::DECIMAL(18, 4) AS left_commission,
    CASE
        WHEN count(commission) >= 25 THEN sum(commission) FILTER (place <= 10) / sum(commission)
    END::DECIMAL(19, 8) AS top_ten_share
FROM paired
WHERE month BETWEEN (SELECT min(month) + INTERVAL 23 MONTH FROM marts.office_sources WHERE report = 'commission_user')
    AND (SELECT max(month) FROM marts.user_month WHERE NOT is_open)
GROUP BY ALL
ORDER BY level, member_id, month
