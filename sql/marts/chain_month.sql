-- What did the whole chain earn and do, month by month?
-- One row per month that is loaded for any office. Amounts are those of the offices that are loaded: if is_complete is
-- false, an office is missing, or was last read in the middle of the month, and the chain earned more than is shown. A
-- number is null if its report is loaded for no office.
-- Kind: view
-- Key: month
SELECT * EXCLUDE (level, member_id)
FROM marts.level_month
WHERE level = 'chain'
