-- What did the whole chain earn and do, month by month?
-- One row per month that is loaded for any office.
-- Amounts are those of the offices that are loaded. If is_complete is false, missing_offices names reports that are
-- missing or cover only a part of the month, and the true numbers may be higher. A number is null if its report is
-- loaded for no office.
-- Kind: view
-- Key: month
SELECT * EXCLUDE (level, member_id)
FROM marts.level_month
WHERE level = 'chain'
