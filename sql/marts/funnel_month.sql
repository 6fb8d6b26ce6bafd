-- How many valuations, homes registered for sale and sales were there?
-- One row per office or user and month: read one kind of earner.
-- Numbers add up over months and offices. A conversion is sum(sold_estate_parts) / sum(valuation_parts) over at least
-- 25 valuations.
-- Homes are usually sold months after their valuation, so look at a whole year.
-- Key: earner_kind, earner_id, month
-- Columns:
--   earner_kind: office or user
--   earner_id: id of the office or user
--   office_id: customer id of the office, or of the user's office in the month
--   month: first day of the month
--   valuation_parts: valuations, in parts if shared
--   registered_count: homes entered by the office in the month; null for users, and if the report
--     estates_by_creation is not loaded
--   unsold_count: registered homes without a contract yet, withdrawn ones included, when the month was last read; their
--     sum over all months is the stock; null for users, if the report estates_by_creation is not loaded, and if the
--     service returns only sold homes
WITH registrations AS (
    SELECT
        sources.office_id,
        sources.month,
        count(estates.estate_id) AS registered,
        count(*) FILTER (estates.is_unsold AND sales.estate_id IS NULL) AS unsold
    FROM marts.office_sources AS sources
    LEFT JOIN staging.registered_estates AS estates USING (customer_id, office_id, month)
    LEFT JOIN marts.sales AS sales USING (estate_id)
    WHERE sources.report = 'estates_by_creation'
    GROUP BY sources.office_id, sources.month
)

SELECT
    'office' AS earner_kind,
    months.office_id AS earner_id,
    months.office_id,
    months.month,
    months.valuation_parts,
    registrations.registered AS registered_count,
    CASE WHEN sum(registrations.unsold) OVER () > 0 THEN registrations.unsold END AS unsold_count,
    months.sold_estate_parts,
    months.writing_parts
FROM marts.office_month AS months
LEFT JOIN registrations USING (office_id, month)
UNION ALL
SELECT 'user', user_id, office_id, month, valuation_parts, NULL, NULL, sold_estate_parts, writing_parts
FROM marts.user_month
ORDER BY earner_kind, earner_id, month
