-- How often was the office report of the months compared with another report, and where do they differ most?
-- One row per report and measure of marts.reconciliation, for numbers of commission reports; of a user the user report, of the
-- user's offices. marts.disagreements has each office and month that differs.
-- Parameters: kind, id, first_month, month, report
SELECT
    compared AS report,
    measure,
    count(*) AS compared_count,
    count(*) FILTER (NOT is_reconciled) AS different_count,
    arg_max(difference, abs(difference)) FILTER (NOT is_reconciled) AS largest_difference,
    arg_max(coalesce(office_name, office_id), abs(difference)) FILTER (NOT is_reconciled) AS office,
    arg_max(month, abs(difference)) FILTER (NOT is_reconciled) AS month,
    arg_max(likely_reason, abs(difference)) FILTER (NOT is_reconciled) AS likely_reason
FROM marts.reconciliation
WHERE is_reconciled IS NOT NULL
    AND is_of_commissions()
    AND month BETWEEN getvariable('first_month')::DATE AND getvariable('month')::DATE
    AND CASE getvariable('kind')
        WHEN 'user' THEN compared = 'user report' AND (office_id, month) IN (
            SELECT (office_id, month) FROM marts.user_month WHERE user_id = getvariable('id')
        )
        ELSE is_asked_for(office_id, NULL)
    END
GROUP BY compared, measure
ORDER BY different_count DESC, compared, measure
