-- How far are offices and users from their budgets, and where will the year end?
-- One row per office or user, month and measure, in every year that has a budget. A month without a budget is included
-- if the office is loaded or the user was at work in it.
-- A row without a user is the office as a whole: its budget is the sum of its users' budgets and of budgets without a
-- user. A user's budgets at several offices are added up, because the user report does not state the office of a
-- commission.
-- The budget of registered estates is compared with the office's estates entered in the month (estates_by_creation).
-- The budget of meetings is compared with the meetings of live_activity. It is assumed that they mean the same things.
-- The year to date has every month from January. Months before a user began count as zero if the user report of the
-- user's offices is loaded for them. Shares compare only the months with a budget: look at budget_month_count.
-- The forecast is the amount reached so far, the current month included, plus an estimate for the rest of the year. The
-- rest of the budget counts at the attainment of the months that are over. A coming month without a budget counts as
-- the average of the months that are over.
-- The estimate is zero in three cases: there was no trace in three months; there is neither a trace in the month nor a
-- later budget; or the user has left the directory.
-- The forecast is null if a month of the year so far is not loaded. The row of the latest month that is over has
-- today's forecast. Earlier rows have the forecast as of their end.
-- Kind: table
-- Columns:
--   office_id: customer id of the office; for a user, the office with the user's largest budget in the month or,
--     without a budget, the user's office
--   office_name: name of that office
--   user_id: id of the user; null for the office as a whole
--   user_name: name of the user; two users may have the same name: group by user_id, and show the label of
--     marts.users
--   month: first day of the month
--   measure: commission, sold estates, registered estates, meetings or own booked meetings
--   budget: the budget of the whole month, even where is_open; commission in SEK without VAT, as documented for
--     setting budgets; null without a budget
--   actual: amount reached in the month, so far if it is open. Null in three cases: the month is not loaded; it lacks
--     rows; or it has ended since it was read. The currency of commission is not documented, and declared VAT is
--     deducted: see basis_note
--   attainment_share: actual as a share of budget, 1 when just reached. Null in three cases: without a budget; in an
--     open month; if actual is null
--   year_to_date_budget: budget from January to the month, from the months that have one; already a sum, so never add
--     it up over months
--   year_to_date_actual: amount reached from January to the month; null if actual is not known in one of these months;
--     already a sum, so never add it up over months
--   year_to_date_attainment_share: amount reached in the months with a budget, as a share of year_to_date_budget. Null
--     in three cases: in an open month; if year_to_date_actual is null; without a budget so far
--   year_budget: budget of the whole year, from the months that have one; the same on every row of the year, so read
--     one row and never add it up over months
--   year_forecast: where the year will end, all twelve months together, as seen from this month. Read the latest month
--     with NOT is_open, and never add it up over months. Null in two cases: in an open month; if year_to_date_actual is
--     null
--   year_forecast_attainment_share: forecast of the months with a budget, as a share of year_budget. Null in two cases:
--     if year_forecast is null; without a budget
--   budget_month_count: months of the year that have a budget, 12 for a whole year
--   year_to_date_budget_month_count: months from January to the month that have a budget
--   is_open: whether the month is not over yet, or still to come
--   basis_note: what to note when commission is compared with its budget, because its tax basis is not documented. Null
--     in two cases: for counts; if both are declared to be without VAT
WITH current_budgets AS (
    SELECT office_id, user_id, month, measure, amount
    FROM marts.budgets
    WHERE valid_to_utc IS NULL
),

budgets_summed AS (
    SELECT
        false AS is_user, office_id AS owner_id, office_id, month, measure, sum(amount)::DECIMAL(18, 4) AS budget
    FROM current_budgets
    GROUP BY ALL
    UNION ALL
    SELECT
        true, user_id, first(office_id ORDER BY amount DESC NULLS LAST, office_id), month, measure, sum(amount)
    FROM current_budgets
    WHERE user_id IS NOT NULL
    GROUP BY user_id, month, measure
),

offices_of_users AS (
    SELECT user_id, year(month) AS year, office_id, count(*) OVER (PARTITION BY user_id, year(month)) AS office_count
    FROM current_budgets
    WHERE user_id IS NOT NULL
    GROUP BY user_id, year(month), office_id
),

-- Months for which a report is loaded for all offices of the user, even if only in part.
reports_of_users AS (
    SELECT
        offices.user_id,
        sources.report,
        sources.month,
        bool_or(sources.is_growing) AS is_open,
        bool_or(sources.is_partial) AS is_partial,
        min(sources.fetched_at_utc) AS read_at_utc
    FROM offices_of_users AS offices
    INNER JOIN marts.office_sources AS sources
        ON sources.report IN ('commission_user', 'live_activity')
        AND sources.office_id = offices.office_id
        AND year(sources.month) = offices.year
    GROUP BY ALL
    HAVING count(*) = any_value(offices.office_count)
),

owner_months AS (
    SELECT
        false AS is_user,
        office_id AS owner_id,
        office_id,
        month,
        CASE WHEN is_commission_complete THEN commission END AS commission,
        CASE WHEN is_commission_complete THEN sold_estate_parts END AS sold_estate_parts,
        commission IS NOT NULL AS is_at_work,
        is_open,
        read_at_utc
    FROM marts.office_month
    UNION ALL
    SELECT
        true,
        user_id,
        user_months.office_id,
        month,
        CASE
            WHEN user_months.is_commission_complete THEN user_months.commission
            WHEN user_months.commission IS NULL AND NOT loaded_users.is_partial THEN 0
        END,
        CASE
            WHEN user_months.is_commission_complete THEN user_months.sold_estate_parts
            WHEN user_months.sold_estate_parts IS NULL AND NOT loaded_users.is_partial THEN 0
        END,
        coalesce(user_months.is_active, false),
        coalesce(user_months.is_open, loaded_users.is_open),
        loaded_users.read_at_utc
    FROM marts.user_month AS user_months
    FULL JOIN (FROM reports_of_users WHERE report = 'commission_user') AS loaded_users USING (user_id, month)
),

actuals AS (
    SELECT
        * EXCLUDE (commission, sold_estate_parts, read_at_utc),
        CASE WHEN is_open THEN local_time(read_at_utc) END AS read_at,
        unnest([
            {'measure': 'commission', 'actual': without_vat(commission, basis)},
            {'measure': 'sold estates', 'actual': sold_estate_parts::DECIMAL(18, 4)}
        ], recursive := true)
    FROM owner_months
    CROSS JOIN marts.tax_basis AS basis
),

registrations AS (
    SELECT
        false AS is_user,
        sources.office_id AS owner_id,
        sources.office_id,
        sources.month,
        true AS is_at_work,
        any_value(sources.is_growing) AS is_open,
        any_value(CASE WHEN sources.is_growing THEN local_time(sources.fetched_at_utc) END) AS read_at,
        'registered estates' AS measure,
        CASE WHEN NOT any_value(sources.is_partial) THEN count(estates.estate_id) END::DECIMAL(18, 4) AS actual
    FROM marts.office_sources AS sources
    LEFT JOIN staging.registered_estates AS estates
        ON estates.customer_id = sources.customer_id
        AND estates.office_id = sources.office_id
        AND estates.month = sources.month
    WHERE sources.report = 'estates_by_creation'
    GROUP BY ALL
),

meetings_counted AS (
    SELECT user_id IS NOT NULL AS is_user, coalesce(user_id, office_id) AS owner_id, month, measure, sum(amount) AS amount
    FROM marts.activity
    WHERE measure IN ('meetings', 'own_booked_meetings')
    GROUP BY GROUPING SETS ((user_id, month, measure), (office_id, month, measure))
),

-- Months whose activity is loaded for the office, or for all offices of the user.
activity_months AS (
    SELECT
        false AS is_user, office_id AS owner_id, office_id, month,
        is_growing AS is_open, is_partial, fetched_at_utc AS read_at_utc
    FROM marts.office_sources
    WHERE report = 'live_activity'
    UNION ALL
    SELECT true, user_id, NULL, month, is_open, is_partial, read_at_utc
    FROM reports_of_users
    WHERE report = 'live_activity'
),

meetings AS (
    SELECT
        months.* EXCLUDE (is_partial, read_at_utc),
        CASE WHEN is_open THEN local_time(read_at_utc) END AS read_at,
        replace(measure, '_', ' ') AS measure,
        NOT is_user OR coalesce(amount, 0) > 0 AS is_at_work,
        CASE WHEN NOT is_partial THEN coalesce(amount, 0) END::DECIMAL(18, 4) AS actual
    FROM activity_months AS months
    CROSS JOIN (SELECT DISTINCT measure FROM meetings_counted) AS measures
    LEFT JOIN meetings_counted USING (is_user, owner_id, month, measure)
),

all_actuals AS (
    FROM actuals
    UNION ALL BY NAME
    FROM registrations
    UNION ALL BY NAME
    FROM meetings
),

months_to_show AS (
    SELECT is_user, owner_id, month, measure
    FROM budgets_summed
    UNION
    SELECT is_user, owner_id, actuals.month, measure
    FROM all_actuals AS actuals
    INNER JOIN budgets_summed AS budgets USING (is_user, owner_id, measure)
    WHERE actual IS NOT NULL AND year(actuals.month) = year(budgets.month)
),

last_month AS (
    SELECT max(month) AS month FROM marts.office_month WHERE NOT is_open
),

owners_active AS (
    SELECT
        office_id AS owner_id,
        false AS is_user,
        NULL::DATE AS first_active_month,
        any_value(last_active_month) AS last_active_month,
        NULL::DATE AS left_month
    FROM marts.office_month
    GROUP BY office_id
    UNION ALL
    SELECT DISTINCT
        user_months.user_id,
        true,
        user_months.first_active_month,
        user_months.last_active_month,
        users.left_month
    FROM marts.user_month AS user_months
    LEFT JOIN marts.users AS users USING (user_id)
),

compared AS (
    SELECT
        is_user,
        owner_id,
        coalesce(budgets.office_id, actuals.office_id) AS office_id,
        month,
        measure,
        budgets.budget,
        actuals.actual,
        coalesce(actuals.is_at_work, false) AS is_at_work,
        coalesce(
            actuals.is_open,
            month > (SELECT last_month.month FROM last_month),
            true
        ) AS is_open,
        CASE
            WHEN actuals.actual IS NULL THEN 0
            WHEN read_at IS NULL THEN 1
            ELSE passed_share_of(month, read_at)
        END AS passed_share,
        coalesce(month > owners.last_active_month, false) AS is_quiet,
        coalesce(is_without_trace(owners.last_active_month, month) OR month >= owners.left_month, false) AS is_gone,
        greatest(date_trunc('year', month)::DATE, owners.first_active_month) AS began_month
    FROM months_to_show
    LEFT JOIN budgets_summed AS budgets USING (is_user, owner_id, month, measure)
    LEFT JOIN all_actuals AS actuals USING (is_user, owner_id, month, measure)
    LEFT JOIN owners_active AS owners USING (is_user, owner_id)
),

summed AS (
    SELECT
        *,
        count(actual) OVER so_far = month(month) AS is_known_so_far,
        sum(budget) OVER so_far AS budget_so_far,
        count(budget) OVER so_far AS budget_count_so_far,
        CASE WHEN is_known_so_far THEN sum(actual) OVER so_far END AS actual_so_far,
        CASE WHEN is_known_so_far THEN sum(actual) FILTER (budget IS NOT NULL) OVER so_far END AS actual_of_budgeted,
        sum(budget) OVER of_year AS year_budget,
        count(budget) OVER of_year AS budget_count,
        coalesce(bool_and(is_open) OVER later, true) AS is_latest,
        CASE WHEN is_latest THEN sum(actual) OVER later END AS later_actual,
        CASE WHEN is_latest THEN sum(actual) FILTER (budget IS NOT NULL) OVER later END AS later_actual_of_budgeted,
        CASE WHEN is_latest THEN sum(budget * passed_share) OVER later END AS budget_passed,
        CASE WHEN is_latest THEN sum(passed_share) FILTER (budget IS NULL) OVER later END AS passed_without_budget
    FROM compared
    WINDOW
        of_year AS (PARTITION BY is_user, owner_id, measure, year(month)),
        so_far AS (PARTITION BY is_user, owner_id, measure, year(month) ORDER BY month),
        later AS (PARTITION BY is_user, owner_id, measure, year(month) ORDER BY month ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
),

forecast AS (
    SELECT
        *,
        actual_so_far / (datediff('month', began_month, month) + 1) AS average_month,
        is_gone OR (is_quiet AND coalesce(year_budget, 0) = coalesce(budget_so_far, 0)) AS has_stopped,
        12 - month(month) - (budget_count - budget_count_so_far) - coalesce(passed_without_budget, 0)
            AS months_left_without_budget,
        coalesce(later_actual_of_budgeted, 0) + CASE
            WHEN has_stopped THEN 0
            ELSE greatest(
                (coalesce(year_budget, 0) - coalesce(budget_so_far, 0) - coalesce(budget_passed, 0))
                * coalesce(actual_of_budgeted / nullif(budget_so_far, 0), 1),
                0
            )
        END AS rest_of_budgeted,
        coalesce(later_actual, 0) - coalesce(later_actual_of_budgeted, 0) + CASE
            WHEN has_stopped OR month < began_month THEN 0
            ELSE greatest(months_left_without_budget * average_month, 0)
        END AS rest_without_budget
    FROM summed
)

SELECT
    forecast.month,
    forecast.office_id,
    offices.office_name,
    CASE WHEN forecast.is_user THEN forecast.owner_id END AS user_id,
    users.user_name,
    forecast.measure,
    forecast.budget,
    forecast.actual,
    (CASE WHEN NOT forecast.is_open THEN forecast.actual / nullif(forecast.budget, 0) END)::DECIMAL(19, 8) AS attainment_share,
    forecast.budget_so_far::DECIMAL(18, 4) AS year_to_date_budget,
    forecast.actual_so_far::DECIMAL(18, 4) AS year_to_date_actual,
    (CASE WHEN NOT forecast.is_open THEN forecast.actual_of_budgeted / nullif(forecast.budget_so_far, 0) END)::DECIMAL(19, 8)
        AS year_to_date_attainment_share,
    forecast.year_budget::DECIMAL(18, 4) AS year_budget,
    (CASE WHEN NOT forecast.is_open THEN
        forecast.actual_so_far + forecast.rest_of_budgeted + forecast.rest_without_budget
    END)::DECIMAL(18, 4) AS year_forecast,
    (CASE WHEN NOT forecast.is_open AND forecast.is_known_so_far THEN
        (coalesce(forecast.actual_of_budgeted, 0) + forecast.rest_of_budgeted) / nullif(forecast.year_budget, 0)
    END)::DECIMAL(19, 8) AS year_forecast_attainment_share,
    forecast.budget_count AS budget_month_count,
    forecast.budget_count_so_far AS year_to_date_budget_month_count,
    forecast.is_open,
    CASE WHEN forecast.measure = 'commission' THEN basis.basis_note END AS basis_note
FROM forecast
CROSS JOIN marts.tax_basis AS basis
LEFT JOIN marts.offices AS offices ON offices.office_id = forecast.office_id
LEFT JOIN marts.users AS users ON users.user_id = forecast.owner_id AND forecast.is_user
WHERE forecast.budget IS NOT NULL OR forecast.is_at_work
ORDER BY year(forecast.month), forecast.office_id, forecast.month, user_id NULLS FIRST, forecast.measure
