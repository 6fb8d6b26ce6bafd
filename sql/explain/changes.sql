-- What changed in the month after it was over, since when, and which sales were it?
-- One row per change of the month's commission, and one per sale that changed in the sales list, the latest first.
-- A sale is listed with its whole commission at the office that listed it, and at the offices and users that share in it
-- now; who shared in a sale that vanished nobody knows any more.
-- Parameters: office, user, month
WITH totals AS (
    SELECT noted_at_utc, commission_before, commission_after
    FROM marts.office_restatements
    WHERE office_id = getvariable('office') AND month = getvariable('month')::DATE
    UNION ALL
    SELECT valid_from_utc, lag(commission) OVER versions, commission
    FROM marts.user_month_versions
    WHERE user_id = getvariable('user') AND month = getvariable('month')::DATE
    WINDOW versions AS (ORDER BY version)
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
    noted_at_utc,
    NULL AS estate_id,
    'the month' AS change,
    commission_before,
    commission_after,
    commission_after - commission_before AS commission_change,
    NULL AS listed_by
FROM totals
UNION ALL
SELECT
    noted_at_utc,
    estate_id,
    change,
    commission_before,
    commission_after,
    commission_change,
    coalesce(office_name, office_id)
FROM marts.sale_changes AS changes
LEFT JOIN shared USING (estate_id)
WHERE month = getvariable('month')::DATE
    AND (change <> 'amount changed' OR commission_change <> 0)
    AND (office_id = getvariable('office') OR shared.estate_id IS NOT NULL)
ORDER BY noted_at_utc DESC, estate_id NULLS FIRST
