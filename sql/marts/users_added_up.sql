-- Which users are added up from the answers of several customers, and might be counted twice?
-- One row per user and month with more than one answer that counts (marts.user_sources).
-- Each answer is assumed to have the amounts earned at the customer's own offices. The service does not document this:
-- each answer may have the whole.
-- Equal amounts in both answers, month after month, suggest the whole: then the user is counted twice. A single equal
-- month may be chance, such as a sale shared in halves between the user's offices.
-- Key: user_id, month
-- Columns:
--   month: first day of the month
--   user_id: id of the user
--   customers: the customers whose answers are added up, by id
--   commission: sum of the answers that are added up; currency not documented, tax basis as declared in marts.tax_basis
--   largest_commission: the largest commission in one of the answers that are added up; currency not documented, tax
--     basis as declared in marts.tax_basis
--   amounts: the amounts of each answer, with its customer and the office at which it counts: the customer's own or
--     only office, or the office of a group with the best evidence; currency and tax basis as for commission
--   has_equal_amounts: whether two answers that are not empty agree in commission, prices and parts
WITH answers AS (
    SELECT totals.*
    FROM staging.commission_user AS totals
    SEMI JOIN marts.user_sources AS sources USING (user_id, month, customer_id)
    QUALIFY count(*) OVER (PARTITION BY user_id, month) > 1
),

offices_of_customers AS (
    SELECT customer_id, list(office_id) AS offices FROM staging.customer_offices GROUP BY ALL
),

compared AS (
    SELECT
        *,
        count(*) OVER (
            PARTITION BY user_id, month, commission, sold_total_price, sold_estate_parts, writing_parts, valuation_parts
        ) > 1 AND greatest(abs(commission), sold_estate_parts, writing_parts, valuation_parts) > 0 AS is_repeated
    FROM answers
)

SELECT
    compared.month,
    compared.user_id,
    users.user_label,
    string_agg(compared.customer_id, ', ' ORDER BY compared.customer_id) AS customers,
    sum(compared.commission)::DECIMAL(18, 4) AS commission,
    max(compared.commission) AS largest_commission,
    list({
        customer_id: compared.customer_id,
        office_id: coalesce(
            own_offices.office_id,
            CASE WHEN list_contains(customer_offices.offices, workplaces.office_id) THEN workplaces.office_id END,
            list_min(list_intersect(customer_offices.offices, workplaces.working_offices)),
            workplaces.office_id
        ),
        commission: compared.commission, sold_estate_parts: compared.sold_estate_parts,
        sold_total_price: compared.sold_total_price
    } ORDER BY compared.customer_id) AS amounts,
    coalesce(bool_or(compared.is_repeated), false) AS has_equal_amounts
FROM compared
LEFT JOIN marts.users AS users USING (user_id)
LEFT JOIN staging.offices_asked AS own_offices ON own_offices.customer_id = compared.customer_id
LEFT JOIN offices_of_customers AS customer_offices ON customer_offices.customer_id = compared.customer_id
LEFT JOIN staging.user_offices AS workplaces ON workplaces.user_id = compared.user_id AND workplaces.month = compared.month
GROUP BY compared.month, compared.user_id, users.user_label
ORDER BY compared.month, compared.user_id
