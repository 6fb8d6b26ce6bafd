-- Which sales is the commission of the months made of, and when are they paid?
-- One row per sale, the largest share first: those of the months, then with is_year_before those of a year before.
-- Agents are all of the sale, by the names that they have now, each with the part of its commission where there are several. A share counts at the agent's
-- own office and not at the one that listed the home. Commission for writings and valuations is in no sale.
-- Parameters: office, user, first_month, month
WITH shares AS (
    SELECT *, false AS is_year_before
    FROM marts.sale_shares
    WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    UNION ALL
    SELECT *, true
    FROM marts.sale_shares
    WHERE month BETWEEN getvariable('first_month')::DATE - INTERVAL 1 YEAR
        AND getvariable('month')::DATE - INTERVAL 1 YEAR
),

agents_named AS (
    SELECT
        estate_id,
        string_agg(
            coalesce(users.user_label, sharing.user_name, sharing.user_id)
            || CASE
                WHEN sharing.agent_count > 1 AND commission_share IS NOT NULL
                THEN ' ' || round(100 * commission_share)::INT || '%'
                ELSE ''
            END,
            ', ' ORDER BY sharing.commission DESC, sharing.user_id
        ) AS agents
    FROM (SELECT *, count(*) OVER (PARTITION BY estate_id) AS agent_count FROM marts.sale_shares) AS sharing
    LEFT JOIN marts.users AS users USING (user_id)
    GROUP BY estate_id
)

SELECT
    shares.is_year_before,
    shares.estate_id,
    sales.street_address,
    sales.contract_on,
    agents_named.agents,
    sum(shares.commission) AS commission,
    sum(shares.commission_share) AS estate_parts,
    sales.commission AS whole_commission,
    sales.access_on,
    paid.state,
    paid.days_due,
    paid.commission_received_on,
    sales.restatement_count
FROM shares
INNER JOIN marts.sales AS sales USING (estate_id)
INNER JOIN agents_named USING (estate_id)
LEFT JOIN marts.receivables AS paid USING (estate_id)
WHERE shares.user_office_id = getvariable('office') OR shares.user_id = getvariable('user')
GROUP BY ALL
ORDER BY shares.is_year_before, sum(shares.commission) DESC, shares.estate_id
