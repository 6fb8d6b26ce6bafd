-- What changed in the number after its months were over, and why?
-- One row per change (kind total, with the amounts before and after) and per reason, as in marts.month_change_reasons: of an
-- office they add up. Of the chain there are the changes of its offices. A user has the user's own totals, the work that is a
-- reason at the office, and of its sales the user's share, where that is known. Other measures than those of
-- marts.month_changes, and a user's sold_commission, are not remembered.
-- landing and sha256 are of the stored answer that still had a sale without street_address.
-- Parameters: kind, id, first_month, month, measure
WITH reasons AS (
    SELECT reasons.*, reasons.amount AS part
    FROM marts.month_change_reasons AS reasons
    WHERE getvariable('kind') = 'office' AND office_id = getvariable('id') AND measure = getvariable('measure')
    UNION ALL
    SELECT reasons.*, reasons.amount * coalesce(own.commission_share / reasons.share, 1)
    FROM marts.month_change_reasons AS reasons
    LEFT JOIN marts.sale_shares AS own ON own.estate_id = reasons.estate_id AND own.user_id = getvariable('id') AND own.user_office_id = reasons.office_id
    WHERE getvariable('kind') = 'user'
        AND (reasons.user_id = getvariable('id') AND reasons.measure = getvariable('measure')
        OR own.commission_share IS NOT NULL AND reasons.measure = replace(getvariable('measure'), 'sold_commission', 'commission'))
),

totals_of_user AS (
    SELECT
        month,
        valid_from_utc,
        is_restatement,
        amount_of(getvariable('measure'), total_of(is_present, commission), total_of(is_present, sold_commission), total_of(is_present, sold_total_price), total_of(is_present, sold_estate_parts)) AS amount_after,
        lag(amount_after) OVER (PARTITION BY month ORDER BY version) AS amount_before
    FROM marts.user_month_versions
    WHERE getvariable('kind') = 'user' AND user_id = getvariable('id')
),

found AS (
    SELECT
        noted_at_utc, month, 'total' AS kind, CASE WHEN getvariable('kind') = 'chain' THEN office_name END AS what,
        amount_before, amount_after, difference AS amount
    FROM marts.month_changes
    WHERE measure = getvariable('measure')
        AND (getvariable('kind') = 'chain' OR (getvariable('kind') = 'office' AND office_id = getvariable('id')))
    UNION ALL BY NAME
    SELECT valid_from_utc AS noted_at_utc, month, 'total' AS kind, amount_before, amount_after, amount_after - amount_before AS amount
    FROM totals_of_user
    WHERE is_restatement AND amount_before <> amount_after
    UNION ALL BY NAME
    SELECT
        reasons.noted_at_utc, reasons.month, reasons.kind, coalesce(reasons.street_address, users.user_label) AS what,
        reasons.part AS amount, coalesce(reasons.estate_id, reasons.user_id) AS id, reasons.other_month, 
        coalesce(others.office_name, reasons.other_office_id) AS other_office, reasons.writing_change, reasons.valuation_change,
        reasons.awaited_reports, loads.landing, loads.sha256
    FROM reasons
    LEFT JOIN marts.users AS users ON users.user_id = reasons.user_id
    LEFT JOIN marts.offices AS others ON others.office_id = reasons.other_office_id
    LEFT JOIN marts.sale_changes AS sales ON reasons.street_address IS NULL AND sales.estate_id = reasons.estate_id AND sales.noted_at_utc = reasons.reason_noted_at_utc AND sales.month = reasons.month
    LEFT JOIN meta.loads AS loads ON loads.load_id = sales.load_id_before
)

SELECT 
    local_day(found.noted_at_utc, clock) AS noted_on,
    found.month,
    found.kind,
    found.what,
    found.amount_before::DECIMAL(28, 8) AS amount_before,
    found.amount_after::DECIMAL(28, 8) AS amount_after,
    found.amount::DECIMAL(28, 8) AS amount,
    found.writing_change,
    found.valuation_change,
    found.other_month,
    found.other_office,
    found.awaited_reports,
    found.id,
    found.landing,
    found.sha256
FROM found
LEFT JOIN meta.clock AS clock ON true
WHERE found.month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
ORDER BY found.month, found.noted_at_utc, found.kind <> 'total', abs(found.amount) DESC, found.what, found.id
