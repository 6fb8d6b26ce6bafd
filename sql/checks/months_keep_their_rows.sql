-- Did a closed month lose many of its rows?
-- One row per report, office and month that was over, if its latest change removed all rows, or removed at least three
-- rows that were a third or more of all.
-- Severity: warning
-- Concerns: commission
SELECT
    changed.noted_at_utc, changed.report, changed.office_id, changed.office_name, changed.month,
    changed.row_count_change, changed.commission_before, changed.load_id_after
FROM marts.restatements AS changed
INNER JOIN marts.month_total_versions AS now
    ON (now.report, now.office_id, now.month) = (changed.report, changed.office_id, changed.month)
    AND now.valid_to_utc IS NULL
QUALIFY
    row_number() OVER (PARTITION BY changed.report, changed.office_id, changed.month ORDER BY changed.noted_at_utc DESC) = 1
    AND changed.row_count_change < 0
    AND (now.row_count = 0 OR (changed.row_count_change <= -3 AND -2 * changed.row_count_change >= now.row_count))
