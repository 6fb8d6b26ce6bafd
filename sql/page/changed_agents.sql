-- Which agents' commission of past months has changed since the compared publication?
-- One row per user and month that had ended at that publication (meta.news_since), at the office of marts.user_month.
-- The largest change comes first. If an agent's share of a sale was changed, only this list shows it: no total of an
-- office has changed. Declared VAT is deducted.
SELECT
    users.office_id, users.office_name,
    users.user_label AS agent,
    month,
    without_vat(before.commission, basis)::DECIMAL(18, 4) AS amount_before,
    without_vat(users.commission, basis)::DECIMAL(18, 4) AS amount_after,
    amount_after - amount_before AS difference
FROM marts.user_month AS users
INNER JOIN marts.user_month_versions AS before USING (user_id, month)
INNER JOIN meta.news_since ON month < date_trunc('month', since_utc)
    AND before.valid_from_utc <= since_utc AND coalesce(before.valid_to_utc > since_utc, true)
LEFT JOIN meta.tax_basis AS basis ON true
WHERE abs(difference) >= 0.01
ORDER BY abs(difference) DESC, agent, month
