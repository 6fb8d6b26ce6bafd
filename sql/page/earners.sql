-- Who earned most, up to the newest month that is over for every office, as on the rest of the page?
-- One row per kind, period and earner, the best first. Declared VAT is deducted.
SELECT
    earner_kind AS kind,
    period,
    month,
    coalesce(earner_name, earner_id) AS name,
    without_vat(commission, basis)::DECIMAL(18, 4) AS commission,
    sold_estate_parts AS homes,
    commission_rank AS place,
    is_new,
    rank_change,
    is_complete,
    coalesce(users.has_left, false) AS has_left
FROM marts.leaderboard
LEFT JOIN meta.tax_basis AS basis ON true
LEFT JOIN marts.users AS users ON earner_kind = 'user' AND users.user_id = earner_id
WHERE month = (SELECT month FROM marts.chain_month WHERE is_last_over)
ORDER BY earner_kind, period, commission_rank, name
