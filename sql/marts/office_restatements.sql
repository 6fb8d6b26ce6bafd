-- What changed afterwards in the commission of an office in months that were over?
-- One row per office, month and build that found a different total, from the office report only. If the
-- change comes from a sale, the sales list shows it again: marts.month_change_reasons says how much sales and agents explain.
-- Kind: view
-- Key: office_id, month, noted_at_utc
SELECT * EXCLUDE (report)
FROM marts.restatements
WHERE report = 'commission_office'
