-- What did each agent earn this year at each office, and how far is that from the agent's own budget?
-- One row per office and user who worked or had a budget there from January to month, or earned there in the same
-- months a year before. month is the newest month that is over for every office. Rows with the period 'month' have only
-- what was earned in month or in a later one, even if that is zero and the agent has not left. Agents without a known
-- office have no office id. An agent of several customers has at each office the amounts earned there. Declared VAT is
-- deducted.
-- Budget and actual cover the budget_months in which the user has a budget at the office and a known actual. Actual is
-- null if the agent earned at several offices in one of these months, because the budget is of all offices.
-- commission_before covers the same months of the year before. It is null if one of them is not completely loaded for
-- the agent, or if the agent began later.
-- status is the first of these that is true:
-- 1. 'moved to' or 'moved from' another office, status_office. As in marts.headcount_month, status_month is the first
-- month that marts.user_month has at the new office.
-- 2. 'left': status_month is the agent's last month.
-- 3. 'quiet' for three months: status_month is the agent's last month.
-- 4. 'new': first active there after month or, if the year before is loaded, after its January; 'here' instead if the
-- agent was active at another office before. status_month is the first month.
-- commission_change is null in four cases:
-- 1. The earlier commission is zero or not known.
-- 2. The agent's year is incomplete.
-- 3. In a month of the year before, the agent had been without activity for three months in a row.
-- 4. The agent has a status. An agent who left, or moved to another office, and was still active at this office in
-- month or later, is compared all the same.
WITH last_month AS (SELECT month FROM marts.chain_month WHERE is_last_over),

earned_by_year AS (
    SELECT
        users.office_id, users.user_id,
        year(last_month.month) - year(users.month) AS years_ago,
        any_value(users.user_label) AS name,
        sum(users.commission) AS commission, sum(users.sold_estate_parts) AS homes,
        count(*) FILTER (users.is_active) AS active_months, count(*) AS month_count,
        bool_and(users.is_commission_complete) AS is_complete,
        bool_or(is_without_trace(active_until, users.month)) AS was_absent
    FROM (SELECT *, max(month) FILTER (is_active) OVER (PARTITION BY user_id ORDER BY month) AS active_until FROM marts.user_office_month) AS users
    INNER JOIN last_month ON month(users.month) <= month(last_month.month)
    WHERE years_ago BETWEEN 0 AND 1
    GROUP BY ALL
),

loaded_before AS (
    SELECT sources.office_id, bool_and(NOT sources.is_partial) AS is_whole
    FROM marts.office_sources AS sources
    INNER JOIN last_month
        ON sources.month BETWEEN date_trunc('year', last_month.month) - INTERVAL 1 YEAR
        AND last_month.month - INTERVAL 1 YEAR
    WHERE sources.report = 'commission_user'
    GROUP BY sources.office_id, last_month.month
    HAVING count(*) = month(last_month.month)
),

active_agents AS (
    SELECT
        office_id, user_id,
        any_value(coalesce(office_name, office_id)) AS office_name,
        min(month) FILTER (is_active) AS first_month, max(month) FILTER (is_active) AS last_month,
        min(min(month) FILTER (is_active)) OVER (PARTITION BY user_id) AS began_month,
        min(month) FILTER (is_active AND is_main_office) AS placed_month,
        max(month) FILTER (is_active OR NOT is_commission_complete) AS last_possible_month
    FROM marts.user_office_month
    GROUP BY office_id, user_id
    HAVING first_month IS NOT NULL
),

moves AS (  -- between two offices with at most one month in common
    SELECT
        this.office_id, this.user_id,
        arg_max(other.office_name, other.last_month)
            FILTER (other.last_month <= this.first_month AND other.first_month < this.first_month) AS moved_from,
        arg_min(other.office_name, other.first_month)
            FILTER (other.first_month >= this.last_month AND other.last_month > this.last_month) AS moved_to,
        coalesce(
            min(other.placed_month) FILTER (other.first_month >= this.last_month AND other.last_month > this.last_month),
            any_value(this.placed_month)
        ) AS moved_month
    FROM active_agents AS this
    INNER JOIN active_agents AS other ON other.user_id = this.user_id AND other.office_id <> this.office_id
    GROUP BY this.office_id, this.user_id
    HAVING moved_to IS NOT NULL OR any_value(this.first_month) > (
        SELECT date_trunc('year', month) - INTERVAL 1 YEAR FROM last_month
    ) AND moved_from IS NOT NULL AND max(other.last_month) <= any_value(this.first_month)
),

budgeted AS (  -- at the office of each budget, in months with a known actual
    SELECT
        budgets.office_id, budgets.user_id, sum(budgets.amount) AS budget, count(DISTINCT budgets.month) AS budget_months,
        CASE WHEN count(shared.month) = 0 THEN sum(coalesce(worked.commission, 0)) END AS actual
    FROM (
        SELECT office_id, user_id, month, sum(amount) AS amount
        FROM marts.budgets
        WHERE measure = 'commission' AND valid_to_utc IS NULL
        GROUP BY ALL
    ) AS budgets
    INNER JOIN last_month ON budgets.month BETWEEN date_trunc('year', last_month.month) AND last_month.month
    SEMI JOIN (FROM marts.user_budget_vs_actual WHERE measure = 'commission' AND actual IS NOT NULL) AS compared
        ON (compared.user_id, compared.month) = (budgets.user_id, budgets.month)
    LEFT JOIN marts.user_office_month AS worked
        ON (worked.office_id, worked.user_id, worked.month) = (budgets.office_id, budgets.user_id, budgets.month)
    LEFT JOIN (FROM marts.users_added_up WHERE commission <> largest_commission) AS shared
        ON (shared.user_id, shared.month) = (budgets.user_id, budgets.month)
    GROUP BY ALL
)

SELECT
    office_id, last_month.month,
    coalesce(earned.name, names.user_label, user_id) AS name,
    without_vat(CASE WHEN earned.user_id IS NULL THEN 0 * before.commission ELSE earned.commission END, basis)::DECIMAL(18, 4) AS commission,
    CASE WHEN earned.user_id IS NULL THEN 0 * before.homes ELSE earned.homes END::DECIMAL(19, 8) AS homes,
    without_vat(earned.commission / nullif(earned.active_months, 0), basis)::DECIMAL(18, 4) AS a_month,
    coalesce(earned.is_complete, before.is_complete, false) AS is_complete,
    CASE
        WHEN before.is_complete IS NOT FALSE AND (loaded_before.is_whole OR before.month_count = month(last_month.month))
        THEN without_vat(
            coalesce(before.commission, CASE WHEN active_agents.first_month <= last_month.month - INTERVAL 1 YEAR THEN 0 END), basis
        )::DECIMAL(18, 4)
    END AS commission_before,
    nullif(budgeted.budget, 0)::DECIMAL(18, 4) AS budget,
    CASE WHEN budgeted.budget <> 0 THEN without_vat(budgeted.actual, basis) END::DECIMAL(18, 4) AS actual,
    CASE
        WHEN moves.moved_to IS NOT NULL THEN 'moved to'
        WHEN moves.moved_from IS NOT NULL THEN 'moved from'
        WHEN names.has_left THEN 'left'
        WHEN is_without_trace(active_agents.last_possible_month, last_month.month) THEN 'quiet'
        WHEN active_agents.first_month
            > CASE WHEN loaded_before.is_whole THEN date_trunc('year', last_month.month) - INTERVAL 1 YEAR ELSE last_month.month END
        THEN CASE WHEN active_agents.began_month < active_agents.first_month THEN 'here' ELSE 'new' END
    END AS status,
    coalesce(moves.moved_to, moves.moved_from) AS status_office,
    CASE
        WHEN starts_with(status, 'moved') THEN moves.moved_month
        WHEN status = 'left' THEN names.left_after_month
        WHEN status = 'quiet' THEN active_agents.last_month
        WHEN status IN ('new', 'here') THEN active_agents.first_month
    END AS status_month,
    CASE
        WHEN commission_before <> 0 AND earned.is_complete IS NOT FALSE AND before.was_absent IS NOT TRUE
            AND (status IS NULL OR status IN ('left', 'moved to') AND active_agents.last_month >= last_month.month)
        THEN (CASE WHEN earned.user_id IS NULL THEN 0 ELSE earned.commission END / before.commission - 1)::DOUBLE
    END AS commission_change,
    budgeted.budget_months, 'year' AS period
FROM (FROM earned_by_year WHERE years_ago = 0) AS earned
FULL JOIN budgeted USING (office_id, user_id)
FULL JOIN (FROM earned_by_year WHERE years_ago = 1 AND commission <> 0) AS before USING (office_id, user_id)
LEFT JOIN loaded_before USING (office_id)
LEFT JOIN marts.users AS names USING (user_id)
LEFT JOIN active_agents USING (office_id, user_id)
LEFT JOIN moves USING (office_id, user_id)
LEFT JOIN meta.tax_basis AS basis ON true
CROSS JOIN last_month
WHERE coalesce(earned.commission, 0) <> 0 OR earned.active_months > 0 OR budgeted.budget <> 0 OR before.commission <> 0
UNION ALL BY NAME
SELECT
    office_id, month, user_label AS name, is_commission_complete AS is_complete, 'month' AS period,
    without_vat(commission, basis)::DECIMAL(18, 4) AS commission, sold_estate_parts AS homes
FROM marts.user_office_month LEFT JOIN meta.tax_basis AS basis ON true
WHERE month >= (SELECT month FROM last_month)
    AND (is_active OR commission <> 0 OR (is_main_office AND user_id NOT IN (SELECT user_id FROM marts.users WHERE has_left)))
ORDER BY office_id, commission DESC NULLS LAST, name
