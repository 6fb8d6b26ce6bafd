-- What changed in the months after they were over, since when, and which sales were it?
-- One row per change of a month's commission, and one per sale that changed since in the sales list.
-- What changed before a month was over is no change of it. A sale counts with the part of its commission that the office or
-- user has in it now; share is null where the sales list has it no more, and then the stored answer at landing (of load
-- load_id_before) may say who had it. Such sales of other offices are named where a total of the month changed that day, as
-- the office or user may have had a share in them.
-- Parameters: office, user, first_month, month
WITH user_totals AS (
    SELECT
        month,
        valid_from_utc AS noted_at_utc,
        lag(commission) OVER (PARTITION BY month ORDER BY version) AS commission_before,
        commission AS commission_after,
        is_restatement
    FROM marts.user_month_versions
    WHERE user_id = getvariable('user')
),

totals AS (
    SELECT month, noted_at_utc, commission_before, commission_after
    FROM marts.office_restatements
    WHERE office_id = getvariable('office')
        AND month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
        AND commission_before IS DISTINCT FROM commission_after
    UNION ALL
    SELECT month, noted_at_utc, commission_before, commission_after
    FROM user_totals
    WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
        AND is_restatement
        AND commission_before IS DISTINCT FROM commission_after
),

shared AS (
    SELECT
        estate_id,
        coalesce(
            sum(commission) FILTER (is_ours) / nullif(sum(commission), 0), sum(commission_share) FILTER (is_ours), 0
        )::DECIMAL(28, 12) AS share
    FROM (
        SELECT
            *,
            coalesce(user_office_id = getvariable('office') OR user_id = getvariable('user'), false) AS is_ours
        FROM marts.sale_shares
    )
    GROUP BY estate_id
)

SELECT
    month,
    noted_at_utc,
    NULL AS estate_id,
    NULL AS estate_number,
    NULL AS street_address,
    NULL AS agents,
    'the month' AS change,
    NULL AS other_month,
    NULL AS other_office,
    NULL AS contract_on,
    NULL AS price_before,
    commission_before,
    commission_after,
    coalesce(commission_after, 0) - coalesce(commission_before, 0) AS commission_change,
    NULL AS share,
    NULL AS is_listed_here,
    NULL AS landing,
    NULL AS sha256
FROM totals
UNION ALL
SELECT
    changes.month,
    changes.noted_at_utc,
    changes.estate_id,
    changes.estate_number,
    sales.street_address,
    sales.agents,
    changes.change,
    changes.other_month,
    CASE WHEN changes.other_office_id <> changes.office_id THEN coalesce(other.office_name, changes.other_office_id) END,
    coalesce(sales.contract_on, before.contract_on),
    changes.price_before,
    changes.commission_before,
    changes.commission_after,
    changes.commission_change,
    CASE WHEN sales.estate_id IS NOT NULL THEN coalesce(shared.share, (changes.office_id = getvariable('office'))::INTEGER) END,
    coalesce(changes.office_id = getvariable('office'), false),
    loads.landing,
    loads.sha256
FROM marts.sale_changes AS changes
LEFT JOIN marts.sales AS sales USING (estate_id)
LEFT JOIN shared USING (estate_id)
LEFT JOIN marts.sale_versions AS before
    ON before.estate_id = changes.estate_id AND before.valid_to_utc = changes.noted_at_utc
LEFT JOIN marts.offices AS other ON other.office_id = changes.other_office_id
LEFT JOIN meta.loads AS loads ON loads.load_id = changes.load_id_before
WHERE changes.is_restatement
    AND changes.commission_change <> 0
    AND changes.month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    AND (
        shared.share > 0
        OR (shared.share IS NULL AND changes.office_id = getvariable('office'))
        OR (
            sales.estate_id IS NULL
            AND (changes.month, changes.noted_at_utc::DATE) IN (SELECT (month, noted_at_utc::DATE) FROM totals)
        )
    )
ORDER BY month, noted_at_utc, estate_id NULLS FIRST
