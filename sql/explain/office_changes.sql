-- What changed in the commission of which offices after the months were over?
-- One row per office, month and build that found another commission; of the chain it is their sum.
-- Parameters: first_month, month
SELECT
    restated.month,
    restated.noted_at_utc,
    restated.office_id,
    coalesce(offices.office_name, restated.office_id) AS office_name,
    restated.commission_before,
    restated.commission_after,
    coalesce(restated.commission_after, 0) - coalesce(restated.commission_before, 0) AS commission_change
FROM marts.office_restatements AS restated
LEFT JOIN marts.offices AS offices USING (office_id)
WHERE restated.month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    AND restated.commission_before IS DISTINCT FROM restated.commission_after
ORDER BY restated.month, restated.noted_at_utc, commission_change, office_name
