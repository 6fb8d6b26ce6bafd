-- Which sales is the commission of the months made of, and when are they paid?
-- One row per sale, the largest share first: those of the months, then with is_year_before those of a year before.
-- A share counts at the agent's own office and not at the one that listed the home. Commission for writings and
-- valuations is in no sale.
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
)

SELECT
    shares.is_year_before,
    shares.estate_id,
    sales.street_address,
    sales.contract_on,
    string_agg(coalesce(shares.user_name, shares.user_id), ', ' ORDER BY shares.commission DESC) AS agents,
    sum(shares.commission) AS commission,
    sum(shares.commission_share) AS estate_parts,
    sales.commission AS whole_commission,
    sales.access_on,
    paid.state,
    paid.days_due,
    sales.restatement_count
FROM shares
INNER JOIN marts.sales AS sales USING (estate_id)
LEFT JOIN marts.receivables AS paid USING (estate_id)
WHERE shares.user_office_id = getvariable('office') OR shares.user_id = getvariable('user')
GROUP BY ALL
ORDER BY shares.is_year_before, sum(shares.commission) DESC, shares.estate_id
