-- In which month is commission paid, and how much has been received?
-- One row per page and month of possession, from half a year ago to the last month with an amount; months without one
-- have zeros. Only offices that note receipts count.
WITH money AS (
    SELECT
        office_id, state, commission, late_commission, access_month,
        unnest(range(
            (SELECT date_trunc('month', max(counted_on)) FROM marts.receivables) - INTERVAL 6 MONTH,
            access_month + INTERVAL 1 MONTH, INTERVAL 1 MONTH
        ))::DATE AS month
    FROM marts.money_calendar
    WHERE is_receipt_noted
)

SELECT
    levels.level AS kind,
    coalesce(levels.member_id, '') AS scope,
    month,
    coalesce(sum(commission) FILTER (month = access_month AND state = 'received'), 0)::DECIMAL(18, 4) AS received,
    coalesce(sum(commission) FILTER (month = access_month AND state = 'signed'), 0)::DECIMAL(18, 4) AS signed,
    coalesce(sum(commission - late_commission) FILTER (month = access_month AND state = 'due'), 0)::DECIMAL(18, 4) AS due,
    coalesce(sum(late_commission) FILTER (month = access_month), 0)::DECIMAL(18, 4) AS late
FROM money
INNER JOIN marts.office_levels AS levels USING (office_id)
WHERE levels.level = 'chain' OR levels.member_id IS NOT NULL
GROUP BY ALL
ORDER BY kind, scope, month
