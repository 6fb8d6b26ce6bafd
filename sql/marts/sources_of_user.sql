-- Where does a row of a user and month come from, down to the stored answer?
-- One row per answer that a number of the user rests on: the user report of the customers that count, and the answers
-- with running commissions, leads and sales.
-- Example: FROM marts.sources_of_user('U1', DATE '2026-03-01').
-- Parameters: of_user, of_month
SELECT sources.*
FROM marts.sources AS sources
WHERE sources.month = of_month
    AND (
        sources.load_id IN (
            SELECT _load_id FROM marts.running_commissions WHERE user_id = of_user AND month = of_month
            UNION ALL
            SELECT _load_id FROM marts.leads WHERE user_id = of_user AND month = of_month
            UNION ALL
            SELECT _load_id FROM marts.sale_shares WHERE user_id = of_user AND month = of_month
        )
        OR (
            sources.report = 'commission_user'
            AND sources.customer_id IN (
                SELECT customer_id FROM marts.user_sources WHERE user_id = of_user AND month = of_month
                UNION ALL  -- if no answer names the user, the answer in which the user is missing
                SELECT _customer FROM marts.user_month WHERE user_id = of_user AND month = of_month
            )
        )
    )
ORDER BY sources.report, sources.customer_id
