-- Did a month that had rows lose all of them?
-- One row per report, office and closed month that had rows before the newest load, and has none now.
-- Severity: warning
-- Concerns: commission
SELECT noted_at_utc, report, office_id, office_name, month, row_count_change, commission_before, load_id_after
FROM marts.restatements
QUALIFY row_number() OVER (PARTITION BY report, office_id, month ORDER BY noted_at_utc DESC) = 1
    AND (report, office_id, month) IN (
        SELECT (report, office_id, month) FROM marts.month_total_versions WHERE valid_to_utc IS NULL AND row_count = 0
    )
