-- Who are the twenty best agents of the last twelve months, and who is on the way up?
-- One row per user among the twenty first; the twelve months end with the latest month that is over.
--
-- The leaderboard ranks every period already. rank_change compares with the twelve months that ended a month
-- earlier.
SELECT
    commission_rank AS place,
    user_name AS agent,
    commission,
    sold_estate_parts AS homes_sold,
    sold_average_commission AS average_commission,
    rank_change AS places_won
FROM marts.user_leaderboard_12_months
WHERE month = (SELECT max(month) FROM marts.office_month WHERE NOT is_open)
    AND commission_rank <= 20
ORDER BY place, agent;
