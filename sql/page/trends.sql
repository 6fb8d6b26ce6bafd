-- Whose commission is falling, and whose is rising?
-- One row per agent who has not left and is compared in marts.agent_trends, the largest decline first: the three newest
-- months that are over for every office, compared with the same three of last year. An agent who was at several offices
-- since then has no office_id. Declared VAT is deducted.
SELECT
    CASE WHEN elsewhere.user_id IS NULL THEN trends.office_id END AS office_id,
    trends.office_name,
    trends.user_label AS name,
    trends.last_month,
    without_vat(trends.commission, basis)::DECIMAL(18, 4) AS commission,
    without_vat(trends.commission_before, basis)::DECIMAL(18, 4) AS commission_before,
    without_vat(trends.commission_change, basis)::DECIMAL(18, 4) AS difference,
    trends.commission_change_share::DOUBLE AS commission_change
FROM marts.agent_trends AS trends
LEFT JOIN (
    SELECT users.user_id
    FROM marts.user_month AS users
    LEFT JOIN marts.users_added_up AS added USING (user_id, month)
    WHERE month > (SELECT month FROM marts.chain_month WHERE is_last_over) - INTERVAL 15 MONTH
    GROUP BY users.user_id
    HAVING count(DISTINCT users.office_id) > 1 OR count(added.customers) > 0
) AS elsewhere USING (user_id)
LEFT JOIN meta.tax_basis AS basis ON true
WHERE trends.commission_change IS NOT NULL AND NOT trends.has_left
ORDER BY trends.commission_change, trends.user_label
