-- What was earned in each month, beside the same month a year before and the budget?
-- One row per page (the chain, a brand, a region or an office) and month, the newest thirteen up to the newest one held, and at
-- least six. A month counts as marts.chain_month has it, and is in part where an expected office is not held to its end. Only a
-- whole month has a year before, of which every expected office must be held to its end, and a budget. It was read
-- when the oldest of the answers came that count in it.
WITH known AS (
    SELECT
        coverage.month,
        coverage.office_id,
        coverage.is_commission_held AS is_whole,
        without_vat(months.commission, basis) AS commission,
        without_vat(months.sold_commission, basis) AS sold_commission,
        months.sold_total_price AS price,
        months.sold_estate_parts AS homes,
        months.active_agent_count AS agents,
        coalesce(months.is_open, false) AS is_open,
        months.read_at_utc,
        budgets.budget,
        homes_budgets.budget AS homes_budget
    FROM marts.office_coverage AS coverage
    LEFT JOIN meta.tax_basis AS basis ON true
    LEFT JOIN marts.office_month AS months ON months.office_id = coverage.office_id AND months.month = coverage.month
    LEFT JOIN marts.office_budget_vs_actual AS budgets
        ON budgets.office_id = coverage.office_id AND budgets.month = coverage.month AND budgets.measure = 'commission'
    LEFT JOIN marts.office_budget_vs_actual AS homes_budgets
        ON homes_budgets.office_id = coverage.office_id AND homes_budgets.month = coverage.month
        AND homes_budgets.measure = 'sold estates'
),

of_pages AS (
    SELECT levels.level AS kind, coalesce(levels.member_id, '') AS scope, known.*
    FROM known
    INNER JOIN marts.office_levels AS levels USING (office_id)
    WHERE levels.level = 'chain' OR levels.member_id IS NOT NULL
),

summed AS (
    SELECT
        kind,
        scope,
        month,
        count(commission) > 0 AS is_held,
        bool_and(is_whole) AS is_whole,
        bool_or(is_open) AS is_open,
        sum(commission) AS commission,
        sum(homes) AS homes,
        per_active_agent(commission, agents) AS per_agent,
        sum(price) / nullif(sum(homes), 0) AS average_price,
        sum(sold_commission) / nullif(sum(price), 0) AS fee_share,
        nullif(sum(budget), 0) AS budget,
        nullif(sum(homes_budget), 0) AS homes_budget,
        min(read_at_utc) AS read_at_utc
    FROM of_pages
    GROUP BY ALL
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
    FROM summed
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
    CASE WHEN now.is_whole AND NOT shown.is_running THEN now.budget END::DECIMAL(18, 4) AS budget,
    now.homes::DECIMAL(19, 8) AS homes,
    before.homes::DECIMAL(19, 8) AS homes_before,
    CASE WHEN now.is_whole AND NOT shown.is_running THEN now.homes_budget END::DECIMAL(19, 8) AS homes_budget,
    now.per_agent::DECIMAL(18, 4) AS per_agent,
    before.per_agent::DECIMAL(18, 4) AS per_agent_before,
    now.average_price::DECIMAL(18, 4) AS average_price,
    before.average_price::DECIMAL(18, 4) AS average_price_before,
    now.fee_share::DOUBLE AS fee_share,
    before.fee_share::DOUBLE AS fee_share_before,
    now.read_at_utc
FROM shown
LEFT JOIN summed AS now ON (now.kind, now.scope, now.month) = (shown.kind, shown.scope, shown.month)
LEFT JOIN summed AS before
    ON (before.kind, before.scope, before.month) = (shown.kind, shown.scope, shown.month - INTERVAL 1 YEAR)
    AND before.is_whole AND now.is_whole AND NOT shown.is_running
ORDER BY shown.kind, shown.scope, shown.month
