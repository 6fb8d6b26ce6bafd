-- What did each office of a brand, a region or the chain earn and budget in each month that should be loaded?
-- One row per level, member (office, brand, region or chain), office and month of marts.office_coverage.
-- If an office is not loaded, its amounts are null. A sum over the other offices is then not the member's sum: count
-- the nulls.
-- Read one level, and never add up two.
-- Key: level, member_id, office_id, month
-- Columns:
--   level: office, brand, region or chain; never add up two levels
--   member_id: customer id of the office, or the brand or region. Null in two cases: for the chain; for an unknown
--     brand or region
--   office_id: customer id of the office
--   month: first day of the month
--   is_whole: whether the office report is loaded to the end of the month, or to now while it is open
--   is_open: whether the month is not over; false if it is not loaded
--   active_agent_count: active agents of the office, as in marts.office_month
--   additive_agent_count: the same without agents who count at another office of the member, so that the sum over the
--     member's offices counts each agent once
--   actual: the commission reached, without declared VAT, as in marts.office_budget_vs_actual; null if the month is not
--     completely loaded
--   is_budget_open: whether the month is not over or not read yet, as in marts.office_budget_vs_actual; null without
--     a budget
--   homes_budget: budget of homes sold
SELECT
    levels.level,
    levels.member_id,
    coverage.office_id,
    coverage.month,
    coverage.is_commission_held AS is_whole,
    coalesce(months.is_open, false) AS is_open,
    months.commission,
    months.sold_commission,
    months.sold_total_price,
    months.sold_estate_parts,
    months.active_agent_count,
    CASE WHEN months.active_agent_count IS NOT NULL THEN coalesce(agents.agent_count, 0) END AS additive_agent_count,
    months.began_month,
    months.closed_after_month,
    months.read_at_utc,
    budgets.budget,
    budgets.actual,
    budgets.year_budget,
    budgets.year_forecast,
    budgets.budget_month_count,
    budgets.is_open AS is_budget_open,
    homes_budgets.budget AS homes_budget
FROM marts.office_coverage AS coverage
INNER JOIN marts.office_levels AS levels USING (office_id)
LEFT JOIN marts.office_month AS months ON months.office_id = coverage.office_id AND months.month = coverage.month
LEFT JOIN (
    SELECT level, member_id, office_id, month, count(*) AS agent_count
    FROM (
        SELECT levels.level, levels.member_id, users.office_id, users.month
        FROM marts.user_office_month AS users
        INNER JOIN marts.office_levels AS levels USING (office_id)
        WHERE users.is_active
        QUALIFY row_number() OVER (
            PARTITION BY levels.level, levels.member_id, users.user_id, users.month ORDER BY users.is_main_office DESC, users.office_id
        ) = 1
    )
    GROUP BY ALL
) AS agents
    ON (agents.level, agents.office_id, agents.month) = (levels.level, coverage.office_id, coverage.month)
    AND agents.member_id IS NOT DISTINCT FROM levels.member_id
LEFT JOIN marts.office_budget_vs_actual AS budgets
    ON budgets.office_id = coverage.office_id AND budgets.month = coverage.month AND budgets.measure = 'commission'
LEFT JOIN marts.office_budget_vs_actual AS homes_budgets
    ON homes_budgets.office_id = coverage.office_id AND homes_budgets.month = coverage.month
    AND homes_budgets.measure = 'sold estates'
