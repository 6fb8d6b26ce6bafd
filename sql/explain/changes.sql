-- By how much did the number change after its month was over?
-- One row per change of marts.month_changes or, for a user, of marts.user_month_versions; for the chain, the largest
-- first.
-- Only the measures of these marts have changes.
-- Parameters: kind, id, month, measure
WITH versions_of_user AS (
    SELECT
        month,
        valid_from_utc AS noted_at_utc,
        is_restatement,
        total_of(
            is_present,
            CASE getvariable('measure')
                WHEN 'sold_commission' THEN sold_commission
                ELSE amount_of(getvariable('measure'), commission, sold_total_price, sold_estate_parts)
            END
        ) AS amount_after,
        lag(amount_after) OVER (PARTITION BY month ORDER BY version) AS amount_before
    FROM marts.user_month_versions
    WHERE getvariable('kind') = 'user' AND user_id = getvariable('id')
),

all_changes AS (
    SELECT noted_at_utc, month, coalesce(office_name, office_id) AS office, amount_before, amount_after, difference
    FROM marts.month_changes
    WHERE getvariable('kind') <> 'user' AND measure = getvariable('measure') AND is_of_number(office_id, NULL)
    UNION ALL BY NAME
    SELECT noted_at_utc, month, amount_before, amount_after, amount_after - amount_before AS difference
    FROM versions_of_user
    WHERE is_restatement AND amount_before <> amount_after
)

SELECT
    local_day(all_changes.noted_at_utc) AS noted_on,
    all_changes.month,
    all_changes.office,
    all_changes.amount_before,
    all_changes.amount_after,
    all_changes.difference
FROM all_changes
WHERE all_changes.month = getvariable('month')::DATE
ORDER BY CASE WHEN getvariable('kind') = 'chain' THEN abs(all_changes.difference) END DESC, all_changes.month, all_changes.noted_at_utc, all_changes.office
