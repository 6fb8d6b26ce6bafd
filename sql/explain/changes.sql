-- What changed in the number after its months were over, and why?
-- One row per change (kind total) and per reason of marts.month_change_reasons; of an office they add up. Of several changes the
-- first row (kind all) is what they come to. The chain has the changes of its offices, the largest first, and the reasons of
-- the three largest. A user has changes of the user's own total, the user's writings and valuations, and of
-- sales the user's share; of a sale that is gone it is known only where nobody else was its agent. Other measures than those of marts.month_changes are not remembered, but for a user's sold_commission.
-- Parameters: kind, id, first_month, month, measure
WITH sales_known AS (
    SELECT estate_id, string_split(arg_max(agent_ids, version), ', ') AS agents
    FROM marts.sale_versions
    GROUP BY estate_id
    HAVING list_contains(agents, getvariable('id'))
),

largest_of_chain AS (
    SELECT *
    FROM marts.month_changes
    WHERE getvariable('kind') = 'chain'
        AND measure = getvariable('measure')
        AND month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    ORDER BY abs(difference) DESC, office_id, month, noted_at_utc
    LIMIT 3
),

reasons AS (
    SELECT *, amount AS difference
    FROM marts.month_change_reasons
    WHERE getvariable('kind') = 'office' AND office_id = getvariable('id') AND measure = getvariable('measure')
    UNION ALL BY NAME
    SELECT reasons.*, reasons.amount AS difference
    FROM marts.month_change_reasons AS reasons
    SEMI JOIN largest_of_chain USING (office_id, month, measure, noted_at_utc)
    UNION ALL BY NAME
    SELECT
        reasons.*,
        CASE
            WHEN reasons.estate_id IS NULL OR len(gone.agents) = 1 THEN reasons.amount
            ELSE reasons.amount * own.commission_share / reasons.share
        END AS difference
    FROM marts.month_change_reasons AS reasons
    INNER JOIN marts.user_month AS users
        ON users.user_id = getvariable('id') AND users.office_id = reasons.office_id AND users.month = reasons.month
    LEFT JOIN marts.sale_shares AS own ON own.estate_id = reasons.estate_id AND own.user_id = getvariable('id')
    LEFT JOIN sales_known AS gone ON gone.estate_id = reasons.estate_id AND reasons.share IS NULL
    WHERE getvariable('kind') = 'user' AND (
        (reasons.user_id = getvariable('id') AND reasons.measure = getvariable('measure'))
        OR (
            (own.estate_id IS NOT NULL OR gone.estate_id IS NOT NULL)
            AND reasons.measure = replace(getvariable('measure'), 'sold_commission', 'commission')
        )
    )
),

totals_of_user AS (
    SELECT
        month,
        valid_from_utc AS noted_at_utc,
        is_restatement,
        total_of(
            is_present,
            amount_of(getvariable('measure'), commission, sold_commission, sold_total_price, sold_estate_parts)
        ) AS amount_after,
        lag(amount_after) OVER (PARTITION BY month ORDER BY version) AS amount_before
    FROM marts.user_month_versions
    WHERE getvariable('kind') = 'user' AND user_id = getvariable('id')
),

found AS (
    SELECT
        *, 'total' AS kind, CASE WHEN getvariable('kind') = 'chain' THEN coalesce(office_name, office_id) END AS what
    FROM marts.month_changes
    WHERE measure = getvariable('measure')
        AND (getvariable('kind') = 'chain' OR (getvariable('kind') = 'office' AND office_id = getvariable('id')))
    UNION ALL BY NAME
    SELECT *, 'total' AS kind, amount_after - amount_before AS difference
    FROM totals_of_user
    WHERE is_restatement AND amount_before <> amount_after
    UNION ALL BY NAME
    SELECT
        reasons.*,
        coalesce(reasons.street_address, users.user_label) AS what,
        coalesce(reasons.estate_id, reasons.user_id) AS id,
        offices.office_name AS other_office
    FROM reasons
    LEFT JOIN marts.users AS users ON users.user_id = reasons.user_id
    LEFT JOIN marts.offices AS offices ON offices.office_id = reasons.other_office_id
),

in_months AS (
    SELECT
        *,
        max(CASE WHEN kind = 'total' AND getvariable('kind') = 'chain' THEN abs(difference) END) OVER (
            PARTITION BY office_id, month, noted_at_utc
        ) AS size
    FROM found
    WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
),

with_all AS (
    FROM in_months
    UNION ALL BY NAME
    SELECT
        max(noted_at_utc) AS noted_at_utc, max(month) AS month, 'all' AS kind, count(*) || ' changes' AS what,
        sum(difference) AS difference
    FROM in_months
    WHERE kind = 'total'
    HAVING count(*) > 1
)

SELECT
    local_day(found.noted_at_utc, clock) AS noted_on,
    found.month,
    found.kind,
    found.what,
    found.amount_before::DECIMAL(28, 8) AS amount_before,
    found.amount_after::DECIMAL(28, 8) AS amount_after,
    found.difference::DECIMAL(28, 8) AS difference,
    found.writing_change,
    found.valuation_change,
    found.other_month,
    found.other_office,
    found.awaited_reports,
    found.id
FROM with_all AS found
LEFT JOIN meta.clock AS clock ON true
ORDER BY
    found.kind <> 'all',
    found.size DESC,
    found.month,
    CASE WHEN getvariable('kind') <> 'user' THEN found.noted_at_utc END,
    CASE WHEN getvariable('kind') = 'chain' THEN found.office_id END,
    found.kind <> 'total',
    found.noted_at_utc,
    abs(found.difference) DESC,
    found.what,
    found.id
