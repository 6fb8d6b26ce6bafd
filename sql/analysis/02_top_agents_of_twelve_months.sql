-- Who are the top twenty agents of the last twelve whole months, and who is rising?
-- One row per user among the top twenty. The twelve months end with the latest month that is over, or with the last
-- month of the variable year.
--
-- rank_change compares with the twelve months that ended a month earlier.
-- If the variable office is set, only that office's agents among the top twenty of the chain are listed. All its agents
-- are in marts.leaderboard.
-- Parameters: year, office
SELECT
    commission_rank AS place,
    earner_name AS agent,
    (commission / vat_divisor)::DECIMAL(18, 4) AS commission,
    sold_estate_parts AS homes_sold,
    (sold_average_commission / vat_divisor)::DECIMAL(18, 4) AS average_commission,
    rank_change AS places_won,
    divided_basis AS commission_basis
FROM marts.leaderboard
CROSS JOIN marts.tax_basis
WHERE earner_kind = 'user'
    AND period = 'twelve months'
    AND month = (
        SELECT max(month) FROM marts.office_month
        WHERE NOT is_open AND year(month) = coalesce(getvariable('year'), year(month))
    )
    AND commission_rank <= 20
    AND coalesce(office_id, '') = coalesce(getvariable('office'), office_id, '')
ORDER BY place, agent;
