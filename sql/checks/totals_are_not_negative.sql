-- Is there less than nothing of what can only be something?
-- One row per office or user and month with a negative price, count or part; commissions may be taken back.
-- Severity: error
SELECT
    'office' AS earner_kind, office_id AS earner_id, month,
    sold_total_price, sold_estate_parts, writing_parts, valuation_parts
FROM marts.office_month
WHERE least(sold_total_price, sold_estate_parts, writing_parts, valuation_parts) < 0
UNION ALL
SELECT 'user', user_id, month, sold_total_price, sold_estate_parts, writing_parts, valuation_parts
FROM marts.user_month
WHERE least(sold_total_price, sold_estate_parts, writing_parts, valuation_parts) < 0
UNION ALL
SELECT 'sale', estate_id, month, final_price, NULL, NULL, NULL
FROM marts.sales
WHERE final_price < 0
