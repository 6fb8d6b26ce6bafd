-- What changed afterwards in the commission of an office in months that were over?
-- One row per office, month and build that found a different total in the office report.
-- marts.month_change_reasons states how much of a change sales and agents explain.
-- Kind: view
-- Key: office_id, month, noted_at_utc
SELECT * EXCLUDE (report)
FROM marts.restatements
WHERE report = 'commission_office'
