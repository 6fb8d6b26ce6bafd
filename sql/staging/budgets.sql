-- What do all budget reports say together?
-- One row per report, office, user, month, measure and version of a budget; the same budget may stand in several.
-- A row without a customer id of its office is of the office among those of the customer asked that has the number it
-- names (FIR31529 is M31529, assumed), else of the office asked for, or of the only office that the customer answers
-- for. Where none of these is known, neither is the office.
-- Columns:
--   office_id: customer id of the office; null where it is not known
--   preference: which report counts where several hold the same budget; the lowest
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

offices_asked AS (  -- the customer asked where it is an office itself, else its only office
    SELECT
        customer_id,
        CASE WHEN bool_or(office_id = customer_id) THEN customer_id ELSE any_value(office_id) END AS asked_id
    FROM staging.customer_offices
    GROUP BY customer_id
    HAVING bool_or(office_id = customer_id) OR count(*) = 1
)

SELECT said.* REPLACE (coalesce(said.office_id, numbered.numbered_id, asked.asked_id) AS office_id)
FROM said
LEFT JOIN offices_numbered AS numbered
    ON numbered.customer_id = said.customer_id AND numbered.number = office_number(said.office_named)
LEFT JOIN offices_asked AS asked ON asked.customer_id = said.customer_id
