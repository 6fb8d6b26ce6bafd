-- Was a price, a home, a valuation or a writing assignment taken back?
-- One row per office or user and month, and per sale, with a negative price or part. An amount of an earlier month may
-- have been taken back if sold_total_price_of_all_months is not negative. Commissions have a check of their own.
-- Severity: warning
-- Concerns: sales
SELECT
    'office' AS earner_kind, office_id AS earner_id, month,
    sold_total_price, sold_estate_parts, writing_parts, valuation_parts,
    sum(sold_total_price) OVER (PARTITION BY office_id) AS sold_total_price_of_all_months
FROM marts.office_month
QUALIFY least(sold_total_price, sold_estate_parts, writing_parts, valuation_parts) < 0
UNION ALL
SELECT
    'user', user_id, month, sold_total_price, sold_estate_parts, writing_parts, valuation_parts,
    sum(sold_total_price) OVER (PARTITION BY user_id)
FROM marts.user_month
QUALIFY least(sold_total_price, sold_estate_parts, writing_parts, valuation_parts) < 0
UNION ALL
SELECT 'sale', estate_id, month, final_price, NULL, NULL, NULL, NULL
FROM marts.sales
WHERE final_price < 0
ORDER BY month DESC, earner_kind, earner_id
