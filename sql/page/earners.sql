-- Which agents earned most, up to the newest month that is over for every office?
-- One row per period and agent, the best first. Declared VAT is deducted.
SELECT
    period, month,
    coalesce(earner_name, earner_id) AS name,
    without_vat(commission, basis)::DECIMAL(18, 4) AS commission,
    sold_estate_parts AS homes,
    commission_rank AS place,
    is_new,
    rank_change,
    coalesce(users.has_left, false) AS has_left,
    leaderboard.office_name
FROM marts.leaderboard
LEFT JOIN meta.tax_basis AS basis ON true
LEFT JOIN marts.users AS users ON users.user_id = earner_id
WHERE earner_kind = 'user' AND month = (SELECT month FROM marts.chain_month WHERE is_last_over)
ORDER BY period, commission_rank, name
