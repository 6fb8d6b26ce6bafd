-- Which budgets do all budget reports together state?
-- One row per report, office, user, month, measure and version of a budget. Several reports may have the same budget.
-- The office is the first of these that is known:
-- 1. the requested customer's office with the number in the row (FIR31529 is M31529, assumed);
-- 2. the id in the row;
-- 3. the requested office itself, or the only office that the customer answers for;
-- 4. the only office of the customer at which the user has sales or running commissions.
-- If none is known, the office is unknown, and a check counts the row.
-- A row without a user may be the total of the users' rows of the same report, office, month and measure. It is a
-- total, and not a budget, if it was their sum when it was first read.
-- Rows with an id that no user has are totals too, if three things are true:
-- 1. The customer's directory is loaded.
-- 2. Each of these rows is the sum of the rows of all other users.
-- 3. In at least three months, two or more other users have an amount.
-- Columns:
--   customer_id: the requested customer, an office or a group
--   report: the budget report that the row comes from
--   office_id: customer id of the office; null if unknown
--   office_named: the office as the row names it without a customer id; null if it does not
--   user_id: id of the user whose budget it is; null for the office's own
--   month: first day of the month
--   measure: commission, sold estates, registered estates, meetings or own booked meetings
--   amount: commission, documented as whole SEK without VAT for setting budgets, else a count
--   valid_from_utc: when this version was first read
--   valid_to_utc: when it was first missing; null while it is current
--   load_id: the load that the row comes from; joins meta.loads
--   preference: if several reports have the same budget, the report with the lowest preference counts
--   is_total: whether the row is the total of other rows and not a budget
WITH budget_reports AS (
    SELECT 'budget_sold_estates' AS report, 1 AS preference, _customer, office_id, office_named, user_id, _month, sold_budget,
        valid_from_utc, valid_to_utc, _load_id
    FROM bi.budget_sold_estates_history
    UNION ALL BY NAME
    SELECT 'budget_commission' AS report, 1 AS preference, _customer, office_id, office_named, user_id, _month, commission_budget,
        valid_from_utc, valid_to_utc, _load_id
    FROM bi.budget_commission_history
    UNION ALL BY NAME
    SELECT 'budget_crm' AS report, 1 AS preference, _customer, office_id, office_named, user_id, _month, meetings_budget, own_booked_budget,
        valid_from_utc, valid_to_utc, _load_id
    FROM bi.budget_crm_history
    UNION ALL BY NAME
    SELECT 'office_budget_estate' AS report, 2 AS preference, _customer, office_id, office_named, user_id, _month, sold_budget, registered_budget,
        valid_from_utc, valid_to_utc, _load_id
    FROM bi.office_budget_estate_history
    UNION ALL BY NAME
    SELECT 'office_budget_commission' AS report, 2 AS preference, _customer, office_id, office_named, user_id, _month, commission_budget,
        valid_from_utc, valid_to_utc, _load_id
    FROM bi.office_budget_commission_history
    UNION ALL BY NAME
    SELECT 'office_budget_crm' AS report, 2 AS preference, _customer, office_id, office_named, user_id, _month, meetings_budget, own_booked_budget,
        valid_from_utc, valid_to_utc, _load_id
    FROM bi.office_budget_crm_history
    UNION ALL BY NAME
    SELECT 'user_budget_estate' AS report, 3 AS preference, _customer, office_id, office_named, coalesce(user_id, asked_user_id) AS user_id, _month, sold_budget, registered_budget,
        valid_from_utc, valid_to_utc, _load_id
    FROM bi.user_budget_estate_history
    UNION ALL BY NAME
    SELECT 'user_budget_commission' AS report, 3 AS preference, _customer, office_id, office_named, coalesce(user_id, asked_user_id) AS user_id, _month, commission_budget,
        valid_from_utc, valid_to_utc, _load_id
    FROM bi.user_budget_commission_history
    UNION ALL BY NAME
    SELECT 'user_budget_crm' AS report, 3 AS preference, _customer, office_id, office_named, coalesce(user_id, asked_user_id) AS user_id, _month, meetings_budget, own_booked_budget,
        valid_from_utc, valid_to_utc, _load_id
    FROM bi.user_budget_crm_history
),

amounts AS (
    SELECT
        _customer AS customer_id, report, preference, office_id, office_named, user_id, _month AS month,
        unnest([
            {'measure': 'commission', 'amount': commission_budget},
            {'measure': 'sold estates', 'amount': sold_budget},
            {'measure': 'registered estates', 'amount': registered_budget},
            {'measure': 'meetings', 'amount': meetings_budget},
            {'measure': 'own booked meetings', 'amount': own_booked_budget}
        ], recursive := true),
        valid_from_utc, valid_to_utc, _load_id AS load_id
    FROM budget_reports
),

offices_numbered AS (
    SELECT customer_id, office_number(office_id) AS number, any_value(office_id) AS numbered_id
    FROM staging.customer_offices
    GROUP BY customer_id, number
    HAVING count(*) = 1
),

offices_of_users AS (
    SELECT offices.customer_id, traces.user_id, any_value(offices.office_id) AS office_id
    FROM (
        SELECT id AS user_id, primary_office_customer_id AS office_id FROM bi.sales_agents
        UNION
        SELECT user_id, customer_id FROM bi.running_commissions
    ) AS traces
    INNER JOIN staging.customer_offices AS offices USING (office_id)
    GROUP BY offices.customer_id, traces.user_id
    HAVING count(DISTINCT offices.office_id) = 1
),

amounts_of_offices AS (
    SELECT
        amounts.* REPLACE (
            coalesce(offices_numbered.numbered_id, id_or_null(amounts.office_id), own_offices.office_id, offices_of_users.office_id) AS office_id,
            id_or_null(amounts.user_id) AS user_id
        )
    FROM (FROM amounts WHERE amount IS NOT NULL) AS amounts
    LEFT JOIN offices_numbered
        ON offices_numbered.customer_id = amounts.customer_id AND offices_numbered.number = office_number(coalesce(id_or_null(amounts.office_id), amounts.office_named))
    LEFT JOIN staging.offices_asked AS own_offices ON own_offices.customer_id = amounts.customer_id
    LEFT JOIN offices_of_users ON offices_of_users.customer_id = amounts.customer_id AND offices_of_users.user_id = amounts.user_id
),

amounts_grouped AS (
    SELECT *, {'report': report, 'customer': customer_id, 'office': office_id, 'month': month, 'measure': measure} AS group_key
    FROM amounts_of_offices
),

totals AS (  -- at each moment when a row of the group begins: the sum of the users' rows that are current then
    SELECT group_key, moments.at_utc, sum(amounts_grouped.amount) AS total, count(*) FILTER (amounts_grouped.amount <> 0) AS amount_count
    FROM (SELECT DISTINCT group_key, valid_from_utc AS at_utc FROM amounts_grouped) AS moments
    INNER JOIN amounts_grouped USING (group_key)
    WHERE amounts_grouped.user_id IS NOT NULL
        AND amounts_grouped.valid_from_utc <= moments.at_utc
        AND coalesce(amounts_grouped.valid_to_utc > moments.at_utc, true)
    GROUP BY ALL
),

compared AS (
    SELECT amounts_grouped.* EXCLUDE (group_key), totals.total, totals.amount_count
    FROM amounts_grouped
    LEFT JOIN totals ON totals.group_key = amounts_grouped.group_key AND totals.at_utc = amounts_grouped.valid_from_utc
),

user_ids AS (
    SELECT id AS user_id FROM bi.users_history
    UNION
    SELECT user_id FROM bi.commission_user
    UNION
    SELECT id FROM bi.sales_agents
    UNION
    SELECT user_id FROM bi.running_commissions
    UNION
    SELECT receiver_id FROM bi.incoming_leads
    UNION
    SELECT user_id FROM bi.outgoing_leads
),

sums_under_an_id AS (
    SELECT report, customer_id, office_id, user_id, measure
    FROM compared
    WHERE user_id NOT IN (FROM user_ids WHERE user_id IS NOT NULL)
        AND customer_id IN (SELECT _customer FROM bi.users_history)
    GROUP BY ALL
    HAVING bool_and(coalesce(2 * amount = total, total IS NULL))
        AND count(DISTINCT month) FILTER (amount_count > 2) >= 3
)

SELECT
    compared.* EXCLUDE (total, amount_count),
    CASE
        WHEN user_id IS NULL THEN coalesce(amount = total, false)
        ELSE EXISTS (
            FROM sums_under_an_id AS sums
            WHERE sums.report = compared.report
                AND sums.customer_id = compared.customer_id
                AND sums.office_id IS NOT DISTINCT FROM compared.office_id
                AND sums.user_id = compared.user_id
                AND sums.measure = compared.measure
        )
    END AS is_total
FROM compared
