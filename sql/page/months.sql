-- What was earned in each month, compared with the same month a year before and the budget?
-- One row per page (the chain, a brand, a region or an office) and month: the 25 months up to the newest loaded one,
-- and the rest of its year. is_shown marks the current month and the newest twelve that are over. It leaves out months
-- before the oldest loaded one, but never the newest six. goal is the budget of all offices, for coming months too.
-- read_at_utc is the time of the oldest answer that the month uses.
-- A month that is over is partial if an expected office is not loaded to its end. A partial month has neither a budget
-- nor a year before. The current month has both, each for the whole month, if all expected offices are loaded to now.
-- The year before is also null if an expected office was not loaded to the end of that month.
WITH budgets_summed AS (
    SELECT level, member_id, month, sum(budget) AS budget, sum(homes_budget) AS homes_budget, min(read_at_utc) AS read_at_utc
    FROM marts.level_office_month
    WHERE level = 'chain' OR member_id IS NOT NULL
    GROUP BY ALL
),

known_months AS (
    SELECT
        months.level AS kind,
        coalesce(months.member_id, '') AS scope,
        months.month,
        months.commission IS NOT NULL AS is_loaded,
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
        max(month) FILTER (is_loaded) AS newest,
        max(month) FILTER (is_loaded AND is_open) AS running,
        min(month) FILTER (is_loaded) AS oldest
    FROM known_months
    GROUP BY ALL
    HAVING newest IS NOT NULL
),

shown_months AS (
    SELECT
        kind,
        scope,
        newest,
        oldest,
        coalesce(newest = running, false) AS is_newest_open,
        unnest(generate_series(
            newest - INTERVAL 24 MONTH, date_trunc('year', newest) + INTERVAL 11 MONTH, INTERVAL 1 MONTH
        ))::DATE AS month
    FROM spans
)

SELECT
    shown_months.kind,
    shown_months.scope,
    shown_months.month,
    shown_months.month > shown_months.newest AS is_coming,
    shown_months.month <= shown_months.newest AND (
        shown_months.month >= shown_months.newest - INTERVAL 5 MONTH
        OR shown_months.month >= greatest(shown_months.oldest, shown_months.newest - CASE WHEN shown_months.is_newest_open THEN INTERVAL 12 MONTH ELSE INTERVAL 11 MONTH END)
    ) AS is_shown,
    shown_months.is_newest_open AND shown_months.month = shown_months.newest AS is_open,
    NOT (shown_months.is_newest_open AND shown_months.month = shown_months.newest) AND coalesce(now.is_loaded AND NOT now.is_whole, false) AS is_partial,
    now.commission::DECIMAL(18, 4) AS commission,
    before.commission::DECIMAL(18, 4) AS commission_before,
    CASE WHEN now.is_whole THEN now.budget END::DECIMAL(18, 4) AS budget,
    goals.budget::DECIMAL(18, 4) AS goal,
    now.homes::DECIMAL(19, 8) AS homes,
    before.homes::DECIMAL(19, 8) AS homes_before,
    CASE WHEN now.is_whole THEN now.homes_budget END::DECIMAL(19, 8) AS homes_budget,
    now.per_agent::DECIMAL(18, 4) AS per_agent,
    now.average_price,
    now.fee_share::DOUBLE AS fee_share,
    now.read_at_utc
FROM shown_months
LEFT JOIN known_months AS now ON (now.kind, now.scope, now.month) = (shown_months.kind, shown_months.scope, shown_months.month)
LEFT JOIN known_months AS before
    ON (before.kind, before.scope, before.month) = (shown_months.kind, shown_months.scope, shown_months.month - INTERVAL 1 YEAR)
    AND before.is_whole AND (now.is_whole OR shown_months.month > shown_months.newest)
LEFT JOIN marts.level_budget_vs_actual AS goals
    ON (goals.level, goals.month, goals.measure) = (shown_months.kind, shown_months.month, 'commission')
    AND coalesce(goals.member_id, '') = shown_months.scope AND (shown_months.kind = 'chain' OR goals.member_id IS NOT NULL)
ORDER BY shown_months.kind, shown_months.scope, shown_months.month
