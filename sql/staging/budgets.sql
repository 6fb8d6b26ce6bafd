-- What do all budget reports say together?
-- One row per report, office, user, month, measure and version of a budget; the same budget may stand in several.
-- A row without a customer id of its office is of the office among those of the customer asked that has the number it
-- names (FIR31529 is M31529, assumed), else of the office asked for, or of the only office that the customer answers
-- for, or of the only one of them at which its user has sales or running commissions. Where none of these is known, neither is
-- the office, and marts.assumptions counts the row.
-- What is the sum of the others of its report, office and month, when it was first read, is no budget of its own but their
-- total: a row of no user, or of an id that no user has and whose rows are the sum of two or more others in every month,
-- three at least, where the directory of the customer is held.
-- Columns:
--   user_id: id of the user whose budget it is; null where it is of nobody in particular
--   office_id: customer id of the office; null where it is not known
--   amount: commission, where budgets are set documented as whole SEK without VAT, else a count
--   preference: which report counts where several hold the same budget; the lowest
--   is_total: whether it is the total of others and no budget
WITH said AS (
    SELECT *, 1 AS preference FROM staging.budget_commission
    UNION ALL
    SELECT *, 1 AS preference FROM staging.budget_sold_estates
    UNION ALL
    SELECT *, 1 AS preference FROM staging.budget_crm
    UNION ALL
    SELECT *, 2 AS preference FROM staging.office_budget_commission
    UNION ALL
    SELECT *, 2 AS preference FROM staging.office_budget_estate
    UNION ALL
    SELECT *, 2 AS preference FROM staging.office_budget_crm
    UNION ALL
    SELECT *, 3 AS preference FROM staging.user_budget_commission
    UNION ALL
    SELECT *, 3 AS preference FROM staging.user_budget_estate
    UNION ALL
    SELECT *, 3 AS preference FROM staging.user_budget_crm
),

offices_numbered AS (
    SELECT customer_id, office_number(office_id) AS number, any_value(office_id) AS numbered_id
    FROM staging.customer_offices
    GROUP BY customer_id, number
    HAVING count(*) = 1
),

offices_of_users AS (
    SELECT answered.customer_id, traces.user_id, any_value(answered.office_id) AS office_id
    FROM (
        SELECT id AS user_id, primary_office_customer_id AS office_id FROM bi.sales_agents
        UNION
        SELECT user_id, customer_id FROM bi.running_commissions
    ) AS traces
    INNER JOIN staging.customer_offices AS answered USING (office_id)
    GROUP BY answered.customer_id, traces.user_id
    HAVING count(DISTINCT answered.office_id) = 1
),

placed AS (
    SELECT
        said.* REPLACE (
            coalesce(id_set(said.office_id), numbered.numbered_id, asked.office_id, of_users.office_id) AS office_id,
            id_set(said.user_id) AS user_id
        )
    FROM said
    LEFT JOIN offices_numbered AS numbered
        ON numbered.customer_id = said.customer_id AND numbered.number = office_number(said.office_named)
    LEFT JOIN staging.offices_asked AS asked ON asked.customer_id = said.customer_id
    LEFT JOIN offices_of_users AS of_users ON of_users.customer_id = said.customer_id AND of_users.user_id = said.user_id
),

grouped AS (
    SELECT *, {'report': report, 'customer': customer_id, 'office': office_id, 'month': month, 'measure': measure} AS of_office
    FROM placed
),

totals AS (  -- of all rows of users that stood when any row of theirs or of nobody began
    SELECT of_office, moments.at_utc, sum(grouped.amount) AS total, count(*) FILTER (grouped.amount <> 0) AS amount_count
    FROM (SELECT DISTINCT of_office, valid_from_utc AS at_utc FROM grouped) AS moments
    INNER JOIN grouped USING (of_office)
    WHERE grouped.user_id IS NOT NULL
        AND grouped.valid_from_utc <= moments.at_utc
        AND coalesce(grouped.valid_to_utc > moments.at_utc, true)
    GROUP BY ALL
),

compared AS (
    SELECT grouped.* EXCLUDE (of_office), totals.total, totals.amount_count
    FROM grouped
    LEFT JOIN totals ON totals.of_office = grouped.of_office AND totals.at_utc = grouped.valid_from_utc
),

users_known AS (
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
    WHERE user_id NOT IN (FROM users_known WHERE user_id IS NOT NULL)
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
            FROM sums_under_an_id AS found
            WHERE found.report = compared.report
                AND found.customer_id = compared.customer_id
                AND found.office_id IS NOT DISTINCT FROM compared.office_id
                AND found.user_id = compared.user_id
                AND found.measure = compared.measure
        )
    END AS is_total
FROM compared
