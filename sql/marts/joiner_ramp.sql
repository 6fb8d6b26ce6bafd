-- How quickly do new agents begin to earn?
-- One row per office, joined_month and months_since. The month of a row is months_since months after joined_month.
-- Users active in the first loaded month are left out, because it is unknown when they joined.
-- All numbers add up. Average commission per agent is sum(commission) / sum(joined_count); use at least 25 users.
-- Kind: view
-- Key: office_id, joined_month, months_since
-- Columns:
--   office_id: customer id of the user's office in the month
--   joined_month: first month in which the users were active, see marts.user_month
--   months_since: months since joined_month, 0 for the month itself, 23 at most
--   joined_count: users who joined in joined_month and are at the office in the month
--   active_count: users of joined_count who were active in the month
--   commission: commission of the users of joined_count in the month; currency not documented, tax basis as declared
--     in marts.tax_basis
SELECT
    office_id,
    first_active_month AS joined_month,
    date_diff('month', first_active_month, month) AS months_since,
    count(*) AS joined_count,
    count(*) FILTER (is_active) AS active_count,
    sum(commission)::DECIMAL(18, 4) AS commission
FROM marts.user_month
WHERE month BETWEEN first_active_month AND first_active_month + INTERVAL 23 MONTH
    AND first_active_month > (SELECT min(month) FROM marts.office_sources WHERE report = 'commission_user')
GROUP BY ALL
ORDER BY office_id, joined_month, months_since
