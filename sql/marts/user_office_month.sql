-- At which offices did each user work and earn, month by month?
-- One row per user, office and month of marts.user_month. A user of several customers (marts.users_added_up) has a row
-- at the office of marts.user_month and at each other office at which something was earned. Each row has the amounts
-- earned at its office.
-- Kind: view
-- Key: user_id, office_id, month
-- Columns:
--   user_id: id of the user
--   office_id: customer id of the office; null if it is not known
--   month: first day of the month
--   is_main_office: whether it is the user's office in marts.user_month
--   commission: commission from sales, valuations and writing assignments together, by share; currency not documented,
--     tax basis as declared in marts.tax_basis
--   is_active: whether the user was active in the month, see marts.user_month
SELECT
    months.user_id,
    months.user_label,
    coalesce(given.office_id, months.office_id) AS office_id,
    offices.office_name,
    months.month,
    given.office_id IS NULL OR given.office_id = months.office_id AS is_main_office,
    CASE WHEN given.user_id IS NULL THEN months.commission ELSE given.commission END::DECIMAL(18, 4) AS commission,
    CASE WHEN given.user_id IS NULL THEN months.sold_estate_parts ELSE given.sold_estate_parts END::DECIMAL(19, 8) AS sold_estate_parts,
    months.is_active,
    months.is_open,
    months.is_commission_complete,
    months.first_active_month
FROM marts.user_month AS months
LEFT JOIN (
    SELECT
        user_id, month, coalesce(amount.office_id, users.office_id) AS office_id,
        sum(amount.commission) AS commission, sum(amount.sold_estate_parts) AS sold_estate_parts
    FROM (SELECT user_id, month, unnest(amounts) AS amount FROM marts.users_added_up)
    INNER JOIN marts.user_month AS users USING (user_id, month)
    GROUP BY ALL
) AS given USING (user_id, month)
LEFT JOIN marts.offices AS offices ON offices.office_id = coalesce(given.office_id, months.office_id)
WHERE is_main_office OR given.commission <> 0 OR given.sold_estate_parts <> 0
