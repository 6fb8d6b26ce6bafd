-- What changed in the measure at which offices after the months were over?
-- One row per office, month and build that found another commission, price or number of homes, whichever is asked for; of the
-- chain it is their sum. Totals of other measures are not remembered.
-- Parameters: first_month, month, measure
WITH totals AS (
    SELECT
        month,
        noted_at_utc,
        office_id,
        amount_of(getvariable('measure'), commission_before, NULL, price_before, estate_parts_before) AS amount_before,
        amount_of(getvariable('measure'), commission_after, NULL, price_after, estate_parts_after) AS amount_after
    FROM marts.office_restatements
    WHERE month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
)

SELECT
    totals.month,
    totals.noted_at_utc,
    local_day(totals.noted_at_utc, clock) AS noted_on,
    totals.office_id,
    coalesce(offices.office_name, totals.office_id) AS office_name,
    totals.amount_before,
    totals.amount_after,
    totals.amount_after - totals.amount_before AS amount_change
FROM totals
LEFT JOIN marts.offices AS offices USING (office_id)
LEFT JOIN meta.clock AS clock ON true
WHERE totals.amount_before <> totals.amount_after -- where there was no amount, nothing is known to have changed
ORDER BY totals.month, totals.noted_at_utc, amount_change, office_name
