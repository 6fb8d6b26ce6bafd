-- How much commission is signed but not received, and since when?
-- One row per office and quarter of possession, the oldest first; null where possession is not known.
--
-- after_possession is what the buyer has moved in for already, as of the latest contract of the file. A sale without a day of receipt counts with its whole commission, all agents together. Offices that note no such day
-- at all are left out: they would look as if nobody had ever paid them.
-- Parameters: year, office
WITH noting_offices AS (
    SELECT office_id FROM marts.sales GROUP BY ALL HAVING count(commission_received_on) > 0
)

SELECT
    office_name,
    date_trunc('quarter', access_on)::DATE AS possession_quarter,
    count(*) AS homes,
    sum(commission) AS commission,
    sum(commission) FILTER (access_on <= (SELECT max(contract_on) FROM marts.sales)) AS after_possession,
    min(contract_on) AS oldest_contract
FROM marts.sales
SEMI JOIN noting_offices USING (office_id)
WHERE commission_received_on IS NULL
    AND commission > 0
    AND year(month) = coalesce(getvariable('year'), year(month))
    AND office_id = coalesce(getvariable('office'), office_id)
GROUP BY ALL
ORDER BY possession_quarter, commission DESC;
