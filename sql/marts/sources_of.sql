-- Where does a row of an office and month come from, down to the stored answer?
-- One row per report that is loaded for that office and month: whose answer counts, its load, request and landing
-- file.
-- It works for every row that has an office and a month: FROM marts.sources_of('M1', DATE '2026-03-01').
-- Parameters: office, of_month
SELECT sources.*
FROM marts.sources AS sources
INNER JOIN marts.office_sources AS office_sources
    ON office_sources.report = sources.report
    AND office_sources.customer_id = sources.customer_id
    AND office_sources.month = sources.month
WHERE office_sources.office_id = office AND office_sources.month = of_month
ORDER BY sources.report
