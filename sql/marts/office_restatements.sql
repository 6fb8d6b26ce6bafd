-- What changed afterwards in the commission of an office in months that were over?
-- One row per office, month and build that found another total, of the office report alone. The sales list tells the same
-- loss again where it comes from a sale: marts.month_change_reasons says what of it sales and agents explain.
-- Kind: view
-- Key: office_id, month, noted_at_utc
SELECT * EXCLUDE (report)
FROM marts.restatements
WHERE report = 'commission_office'
