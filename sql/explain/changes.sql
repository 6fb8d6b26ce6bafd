-- What changed in the measure after the months were over, since when, and which sales were it?
-- One row per change of a month's total, and one per sale that changed since in the sales list: in its commission, its price,
-- or that it is a home sold. Totals of other measures are not remembered.
-- What changed before a month was over is no change of it. A sale counts with the part of it that the office or user has now; share is null where the sales list has it no more, and then the stored answer at landing (of load
-- load_id_before) may say who had it. Such sales of other offices are named where a total of the month changed that day, as
-- the office or user may have had a share in them.
-- Parameters: office, user, first_month, month, measure
WITH user_totals AS (
    SELECT
        month,
        valid_from_utc AS noted_at_utc,
        version,
        is_restatement,
        is_present,
        amount_of(getvariable('measure'), commission, sold_commission, sold_total_price, sold_estate_parts) AS amount
    FROM marts.user_month_versions
    WHERE user_id = getvariable('user')
),

user_totals_compared AS (
    SELECT
        *,
        lag(amount) OVER (PARTITION BY month ORDER BY version) AS amount_before,
        lag(is_present) OVER (PARTITION BY month ORDER BY version) AS was_present
    FROM user_totals
),

totals AS (
    SELECT
        month,
        noted_at_utc,
        amount_of(getvariable('measure'), commission_before, NULL, price_before, estate_parts_before) AS amount_before,
        amount_of(getvariable('measure'), commission_after, NULL, price_after, estate_parts_after) AS amount_after
    FROM marts.office_restatements
    WHERE office_id = getvariable('office') AND amount_before <> amount_after
    UNION ALL
    SELECT month, noted_at_utc, amount_before, amount
    FROM user_totals_compared
    WHERE is_restatement AND amount_before IS DISTINCT FROM amount
        -- where there was no amount, nothing is known to have changed
        AND (amount IS NOT NULL OR NOT is_present) AND (amount_before IS NOT NULL OR was_present IS NOT TRUE)
),

totals_changed AS (
    SELECT *
    FROM totals
    WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
),

sales_changed AS (
    SELECT
        *,
        amount_of(
            getvariable('measure'), commission_before, commission_before, price_before,
            CASE WHEN change NOT IN ('appeared', 'moved here') THEN 1 END
        ) AS amount_before,
        amount_of(
            getvariable('measure'), commission_after, commission_after, price_after,
            CASE WHEN change NOT IN ('vanished', 'moved away') THEN 1 END
        ) AS amount_after,
        amount_of(getvariable('measure'), commission_change, commission_change, price_change, row_count_change) AS amount_change
    FROM marts.sale_changes
    WHERE is_restatement
        AND month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
),

shared AS (
    SELECT
        estate_id,
        coalesce(
            CASE
                WHEN getvariable('measure') IN ('commission', 'sold_commission')
                THEN sum(commission) FILTER (is_ours) / nullif(sum(commission), 0)
            END,
            sum(commission_share) FILTER (is_ours),
            0
        )::DECIMAL(28, 12) AS share,
        string_agg(agent, ', ' ORDER BY NOT coalesce(is_responsible, false), agent) AS agents
    FROM (
        SELECT
            shares.*,
            coalesce(users.user_label, shares.user_name, shares.user_id) AS agent,
            coalesce(
                shares.user_office_id = getvariable('office') OR shares.user_id = getvariable('user'), false
            ) AS is_ours
        FROM marts.sale_shares AS shares
        LEFT JOIN marts.users AS users USING (user_id)
    )
    GROUP BY estate_id
)

SELECT
    month,
    noted_at_utc,
    local_day(noted_at_utc, clock) AS noted_on,
    NULL AS estate_id,
    NULL AS estate_number,
    NULL AS street_address,
    NULL AS agents,
    'the month' AS change,
    NULL AS other_month,
    NULL AS other_office,
    NULL AS contract_on,
    NULL AS price_before,
    amount_before,
    amount_after,
    coalesce(amount_after, 0) - coalesce(amount_before, 0) AS amount_change,
    NULL AS share,
    NULL AS is_listed_here,
    NULL AS landing,
    NULL AS sha256
FROM totals_changed
LEFT JOIN meta.clock AS clock ON true
UNION ALL
SELECT
    changes.month,
    changes.noted_at_utc,
    local_day(changes.noted_at_utc, clock),
    changes.estate_id,
    changes.estate_number,
    sales.street_address,
    shared.agents,
    changes.change,
    changes.other_month,
    CASE WHEN changes.other_office_id <> changes.office_id THEN coalesce(other.office_name, changes.other_office_id) END,
    coalesce(sales.contract_on, before.contract_on),
    changes.price_before,
    changes.amount_before,
    changes.amount_after,
    changes.amount_change,
    CASE WHEN sales.estate_id IS NOT NULL THEN coalesce(shared.share, (changes.office_id = getvariable('office'))::INTEGER) END,
    coalesce(changes.office_id = getvariable('office'), false),
    loads.landing,
    loads.sha256
FROM sales_changed AS changes
LEFT JOIN marts.sales AS sales USING (estate_id)
LEFT JOIN shared USING (estate_id)
LEFT JOIN marts.sale_versions AS before
    ON before.estate_id = changes.estate_id AND before.valid_to_utc = changes.noted_at_utc
LEFT JOIN marts.offices AS other ON other.office_id = changes.other_office_id
LEFT JOIN meta.loads AS loads ON loads.load_id = changes.load_id_before
LEFT JOIN meta.clock AS clock ON true
WHERE changes.amount_change <> 0
    AND (
        shared.share > 0
        OR (shared.share IS NULL AND changes.office_id = getvariable('office'))
        OR (
            sales.estate_id IS NULL
            AND (changes.month, changes.noted_at_utc::DATE) IN (SELECT (month, noted_at_utc::DATE) FROM totals_changed)
        )
    )
ORDER BY month, noted_at_utc, estate_id NULLS FIRST
