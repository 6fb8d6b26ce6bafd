-- Where does a row of an office and month come from, down to the stored answer?
-- One row per report that is loaded for that office and month: whose answer counts, its load, request and landing
-- file.
-- It works for every row that has an office and a month: FROM marts.sources_of('M1', DATE '2026-03-01').
-- Parameters: office, of_month
SELECT sources.*
FROM marts.sources AS sources
SEMI JOIN (FROM marts.office_sources WHERE office_id = office AND month = of_month) USING (report, customer_id, month)
ORDER BY sources.report
