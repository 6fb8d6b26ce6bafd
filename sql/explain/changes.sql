-- What changed in the months after they were over, since when, and which sales were it?
-- One row per change of a month's commission, and one per sale that changed in the sales list, the latest first.
-- A sale is listed with its whole commission at the office that listed it, and at the offices and users that share in
-- it now. Of a sale that vanished the file keeps neither street nor agents; agent_changes says whose commission changed.
-- Parameters: office, user, first_month, month
WITH totals AS (
    SELECT month, noted_at_utc, commission_before, commission_after
    FROM marts.office_restatements
    WHERE office_id = getvariable('office')
        AND month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    UNION ALL
    SELECT month, valid_from_utc, lag(commission) OVER versions, commission
    FROM marts.user_month_versions
    WHERE user_id = getvariable('user')
        AND month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    WINDOW versions AS (PARTITION BY month ORDER BY version)
    QUALIFY row_number() OVER versions > 1
        AND commission IS DISTINCT FROM lag(commission) OVER versions
        AND lag(valid_from_utc) OVER versions >= month + INTERVAL 1 MONTH
),

shared AS (
    SELECT DISTINCT estate_id
    FROM marts.sale_shares
    WHERE user_office_id = getvariable('office') OR user_id = getvariable('user')
)

SELECT
    month,
    noted_at_utc,
    NULL AS estate_id,
    NULL AS street_address,
    NULL AS agents,
    'the month' AS change,
    commission_before,
    commission_after,
    commission_after - commission_before AS commission_change
FROM totals
UNION ALL
SELECT
    changes.month,
    changes.noted_at_utc,
    changes.estate_id,
    sales.street_address,
    sales.agents,
    changes.change,
    changes.commission_before,
    changes.commission_after,
    changes.commission_change
FROM marts.sale_changes AS changes
LEFT JOIN marts.sales AS sales USING (estate_id)
LEFT JOIN shared USING (estate_id)
WHERE changes.month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    AND (changes.change <> 'amount changed' OR changes.commission_change <> 0)
    AND (changes.office_id = getvariable('office') OR shared.estate_id IS NOT NULL)
ORDER BY noted_at_utc DESC, month, estate_id NULLS FIRST
