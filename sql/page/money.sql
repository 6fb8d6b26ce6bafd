-- In which month is commission paid, and how much has been received?
-- One row per page and month of possession from half a year ago on; only offices that note receipts count.
SELECT
    levels.level AS kind,
    coalesce(levels.member_id, '') AS scope,
    money.access_month AS month,
    coalesce(sum(money.commission) FILTER (money.state = 'received'), 0)::DECIMAL(18, 4) AS received,
    coalesce(sum(money.commission) FILTER (money.state = 'signed'), 0)::DECIMAL(18, 4) AS signed,
    coalesce(sum(money.commission - money.late_commission) FILTER (money.state = 'due'), 0)::DECIMAL(18, 4) AS due,
    sum(money.late_commission)::DECIMAL(18, 4) AS late
FROM marts.money_calendar AS money
INNER JOIN marts.office_levels AS levels USING (office_id)
WHERE money.is_receipt_noted
    AND money.access_month >= (SELECT date_trunc('month', max(counted_on)) FROM marts.receivables) - INTERVAL 6 MONTH
    AND (levels.level = 'chain' OR levels.member_id IS NOT NULL)
GROUP BY ALL
ORDER BY kind, scope, month
