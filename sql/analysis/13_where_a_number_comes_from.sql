-- From which request and which stored answer does an office's month come?
-- One row per report that an office's month is made of; here for the latest month of the first office.
--
-- The variable office names another office, year takes the latest month of that year.
-- landing is the stored answer below the data directory's landing folder, sha256 its checksum.
-- Parameters: year, office
SELECT
    sources.office_id,
    sources.month,
    sources.report,
    sources.customer_id AS customer_asked,
    loads.window_start,
    loads.window_end,
    loads.fetched_at_utc,
    loads.requests,
    loads.landing,
    loads.sha256
FROM marts.office_sources AS sources
INNER JOIN meta.loads AS loads USING (load_id)
WHERE (sources.office_id, sources.month) = (
    SELECT (min(office_id), max(month)) FROM marts.office_month
    WHERE office_id = coalesce(getvariable('office'), office_id) AND year(month) = coalesce(getvariable('year'), year(month))
)
ORDER BY sources.report;
