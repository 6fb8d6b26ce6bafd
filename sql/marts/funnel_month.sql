-- How many valuations, homes registered for sale and sales were there?
-- One row per earner (office or user) and month. Filter on one earner_kind: adding both counts everything twice.
-- Numbers add up over months and offices.
-- For a conversion rate, divide sum(sold_estate_parts) by sum(valuation_parts). A rate of fewer than 25 valuations
-- means little.
-- Homes are usually sold months after their valuation, so look at a whole year.
-- Key: earner_kind, earner_id, month
-- Columns:
--   earner_kind: office or user
--   earner_id: id of the office or user
--   office_id: customer id of the office, or of the user's office in the month
--   month: first day of the month
--   valuation_parts: valuations, in parts if shared
--   registered_count: homes entered by the office in the month. Null in two cases: in rows of users; if the report
--     estates_by_creation is not loaded
--   unsold_count: homes registered in the month that have no contract as far as known, neither in this report nor in
--     the sales. Withdrawn homes cannot be told apart and are counted. Add up all months for the stock. Null in three
--     cases: in rows of users; if the report estates_by_creation is not loaded; if no home of any office is unsold,
--     which means that the service sends only sold homes
--   sold_estate_parts: homes sold; a home whose commission is shared counts in parts
--   writing_parts: writing assignments (contract only), in parts if shared
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
