-- Which offices sent tips in all months loaded, to whom, and how many of the homes they name were sold later?
-- One row per sending office; the office is empty if the sender's office is not in the chain.
--
-- to_elsewhere counts tips to unknown offices. Only a tip that names a home can be followed to a sale. A home counts once,
-- at the first tip that names it, unless it was sold before; a later sale need not result from the tip. Tips of the last
-- months have had little time to become sales. Removed tips are left out. Each tip: FROM marts.leads WHERE way = 'tip'.
-- Parameters: year, office
SELECT
    office_name AS sending_office,
    count(*) AS tips,
    count(*) FILTER (receiver_office_id = office_id) AS to_own_office,
    count(*) FILTER (receiver_office_id <> office_id) AS to_other_offices,
    count(*) FILTER (receiver_office_id IS NULL) AS to_elsewhere,
    count(*) FILTER (estate_id IS NOT NULL) AS naming_a_home,
    count(*) FILTER (is_first_of_home) AS homes,
    count(*) FILTER (is_first_of_home AND sold_on IS NOT NULL) AS homes_sold_since,
    round(100 * homes_sold_since / nullif(homes, 0), 1) AS percent_of_homes_sold,
    office_id
FROM marts.leads
WHERE way = 'tip'
    AND NOT is_removed
    AND year(month) = coalesce(getvariable('year'), year(month))
    AND coalesce(office_id, '') = coalesce(getvariable('office'), office_id, '')
GROUP BY office_id, office_name
ORDER BY tips DESC, office_id;
