-- Whose commission fell, and whose rose, in the last three months that are over, compared with a year before?
-- One row per user who was active in any of the last three months that are over for every office, or in any of the
-- same three months a year before.
-- A user is compared if three things are true: the user's first active month is not later than the first of the three
-- months a year before; the user had not been inactive for three months in a row in one of these; and the user report
-- is loaded to the end of each of the six months. Otherwise the change is null, and not a rise from zero.
-- Kind: view
-- Key: user_id
-- Columns:
--   user_id: id of the user
--   office_id: customer id of the user's latest office
--   office_name: name of the user's latest office
--   last_month: first day of the last of the three months
--   commission: commission of the three months; null if one of them is not loaded to its end; currency not documented,
--     tax basis as declared in marts.tax_basis
--   commission_before: commission of the same three months a year before; currency and tax basis as for commission
--   commission_change: commission less commission_before
--   commission_change_share: commission_change as a share of commission_before; -0.1 is a tenth less
--   sold_estate_parts: homes sold in the three months
--   sold_estate_parts_before: homes sold in the same three months a year before
--   active_month_count: in how many of the three months the user was active, see is_active in marts.user_month
--   active_month_count_before: in how many of the same three months a year before the user was active
--   first_active_month: first month in which the user was active
--   has_left: whether the user has left, see marts.users
WITH last_over AS (
    SELECT month FROM marts.chain_month WHERE is_last_over
),

windows AS (
    SELECT
        years_ago,
        (month - to_months(12 * years_ago + 2))::DATE AS first_month,
        (month - to_months(12 * years_ago))::DATE AS last_month
    FROM last_over
    CROSS JOIN (SELECT unnest([0, 1]) AS years_ago)
),

summed AS (
    SELECT
        months.user_id,
        windows.years_ago,
        bool_and(months.is_commission_complete)
        AND count(*) > date_diff('month', greatest(windows.first_month, months.first_active_month), windows.last_month)
        AND NOT coalesce(bool_or(months.month > months.active_until + INTERVAL 2 MONTH) FILTER (years_ago = 1), false)
            AS is_whole,
        CASE WHEN is_whole THEN sum(months.commission) END AS commission,
        CASE WHEN is_whole THEN sum(months.sold_estate_parts) END AS parts,
        count(*) FILTER (months.is_active) AS active_month_count
    FROM windows
    INNER JOIN (SELECT *, max(month) FILTER (is_active) OVER (PARTITION BY user_id ORDER BY month) AS active_until FROM marts.user_month) AS months
        ON months.month BETWEEN windows.first_month AND windows.last_month
    GROUP BY months.user_id, months.first_active_month, windows.years_ago, windows.first_month, windows.last_month
)

SELECT
    users.user_id,
    users.user_label,
    users.office_id,
    users.office_name,
    users.month AS last_month,
    now.commission::DECIMAL(18, 4) AS commission,
    (CASE WHEN is_compared THEN before.commission END)::DECIMAL(18, 4) AS commission_before,
    (CASE WHEN is_compared THEN now.commission - before.commission END)::DECIMAL(18, 4) AS commission_change,
    (commission_change / nullif(before.commission, 0))::DECIMAL(19, 8) AS commission_change_share,
    now.parts::DECIMAL(19, 8) AS sold_estate_parts,
    (CASE WHEN is_compared THEN before.parts END)::DECIMAL(19, 8) AS sold_estate_parts_before,
    coalesce(now.active_month_count, 0) AS active_month_count,
    coalesce(before.active_month_count, 0) AS active_month_count_before,
    users.first_active_month,
    users.has_left
FROM (SELECT *, first_active_month <= month - INTERVAL 14 MONTH AS is_compared FROM marts.users CROSS JOIN last_over) AS users
LEFT JOIN (FROM summed WHERE years_ago = 0) AS now USING (user_id)
LEFT JOIN (FROM summed WHERE years_ago = 1) AS before USING (user_id)
WHERE now.active_month_count > 0 OR before.active_month_count > 0
ORDER BY commission_change NULLS LAST, users.user_id
