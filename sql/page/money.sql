-- In which month does commission come in, and how much has come?
-- One row per office, month of possession and state, from half a year before the current month on, of offices that note
-- receipts.
SELECT office_id, access_month AS month, state, commission - late_commission AS amount, late_commission AS late
FROM marts.money_calendar
WHERE is_receipt_noted
    AND state IN ('received', 'signed', 'due')
    AND access_month >= (SELECT date_trunc('month', max(counted_on)) FROM marts.receivables) - INTERVAL 6 MONTH
ORDER BY access_month, office_id, state
