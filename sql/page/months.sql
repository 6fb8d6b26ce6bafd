-- What was earned in each month, beside the same month a year before and the budget?
-- One row per page (the chain, a brand, a region or an office) and month, the newest thirteen up to the newest one held, and at
-- least six. A month counts as marts.chain_month has it, and is in part where an expected office is not held to its end: such a
-- month has neither budget nor year before; the month that runs has those of the whole month. Of a year before every expected
-- office must be held to its end. A month was read when the oldest of the answers came that count in it.
WITH budgets_summed AS (
    SELECT level, member_id, month, sum(budget) AS budget, sum(homes_budget) AS homes_budget, min(read_at_utc) AS read_at_utc
    FROM marts.level_office_month
    GROUP BY ALL
),

known AS (
    SELECT
        months.level AS kind,
        coalesce(months.member_id, '') AS scope,
        months.month,
        months.commission IS NOT NULL AS is_held,
        months.is_commission_complete AS is_whole,
        months.is_open,
        without_vat(months.commission, basis) AS commission,
        months.sold_estate_parts AS homes,
        without_vat(months.commission_per_active_agent, basis) AS per_agent,
        months.average_price,
        without_vat(months.sold_commission, basis) / nullif(months.sold_total_price, 0) AS fee_share,
        nullif(budgets.budget, 0) AS budget,
        nullif(budgets.homes_budget, 0) AS homes_budget,
        budgets.read_at_utc
    FROM marts.level_month AS months
    INNER JOIN budgets_summed AS budgets
        ON (budgets.level, budgets.month) = (months.level, months.month)
        AND budgets.member_id IS NOT DISTINCT FROM months.member_id
    LEFT JOIN meta.tax_basis AS basis ON true
),

spans AS (
    SELECT
        kind,
        scope,
        max(month) FILTER (is_held) AS newest,
        max(month) FILTER (is_held AND is_open) AS running,
        greatest(
            min(month) FILTER (is_held),
            newest - CASE WHEN newest = running THEN INTERVAL 12 MONTH ELSE INTERVAL 11 MONTH END
        ) AS oldest
    FROM known
    GROUP BY ALL
    HAVING newest IS NOT NULL
),

shown AS (
    SELECT
        kind,
        scope,
        unnest(generate_series(least(oldest, newest - INTERVAL 5 MONTH), newest, INTERVAL 1 MONTH))::DATE AS month,
        coalesce(month = running, false) AS is_running
    FROM spans
)

SELECT
    shown.kind,
    shown.scope,
    shown.month,
    shown.is_running AS is_open,
    NOT shown.is_running AND coalesce(now.is_held AND NOT now.is_whole, false) AS is_part,
    now.commission::DECIMAL(18, 4) AS commission,
    before.commission::DECIMAL(18, 4) AS commission_before,
    CASE WHEN now.is_whole THEN now.budget END::DECIMAL(18, 4) AS budget,
    now.homes::DECIMAL(19, 8) AS homes,
    before.homes::DECIMAL(19, 8) AS homes_before,
    CASE WHEN now.is_whole THEN now.homes_budget END::DECIMAL(19, 8) AS homes_budget,
    now.per_agent::DECIMAL(18, 4) AS per_agent,
    before.per_agent::DECIMAL(18, 4) AS per_agent_before,
    now.average_price,
    now.fee_share::DOUBLE AS fee_share,
    now.read_at_utc
FROM shown
LEFT JOIN known AS now ON (now.kind, now.scope, now.month) = (shown.kind, shown.scope, shown.month)
LEFT JOIN known AS before
    ON (before.kind, before.scope, before.month) = (shown.kind, shown.scope, shown.month - INTERVAL 1 YEAR)
    AND before.is_whole AND now.is_whole
ORDER BY shown.kind, shown.scope, shown.month
