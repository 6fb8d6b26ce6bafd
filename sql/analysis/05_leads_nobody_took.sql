-- Where do incoming leads lie untouched or get lost?
-- One row per office, over the latest three months, or the year that is set.
--
-- States are the service's own words and may get new ones; here New is untouched, and NoAnswerOrBusy,
-- NoAssignment, Cancelled and RemovedOther are lost. Leads that were removed are counted apart.
-- Parameters: year, office
SELECT
    office_name,
    sum(lead_count) AS leads,
    sum(removed_lead_count) AS removed,
    sum(lead_count) FILTER (state = 'New') AS untouched,
    sum(lead_count) FILTER (state IN ('NoAnswerOrBusy', 'NoAssignment', 'Cancelled', 'RemovedOther')) AS lost,
    round(100 * sum(lead_count) FILTER (state = 'New') / nullif(sum(lead_count), 0), 1) AS untouched_percent
FROM marts.lead_funnel
WHERE way = 'incoming lead'
    AND CASE
        WHEN getvariable('year') IS NULL THEN month >= (SELECT max(month) FROM marts.lead_funnel) - INTERVAL 2 MONTH
        ELSE year(month) = getvariable('year')
    END
    AND coalesce(office_id, '') = coalesce(getvariable('office'), office_id, '')
GROUP BY office_name
ORDER BY untouched_percent DESC NULLS LAST;
