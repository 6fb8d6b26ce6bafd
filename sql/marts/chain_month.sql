-- What did the whole chain earn and do, month by month?
-- One row per month that any office holds. Amounts are those of the offices that are held: where is_complete is false an
-- office is missing, or was read only to the middle of the month, and the chain earned more than is shown. A number is
-- null where no office holds its report.
-- Kind: view
-- Key: month
SELECT * EXCLUDE (level, member_id)
FROM marts.level_month
WHERE level = 'chain'
